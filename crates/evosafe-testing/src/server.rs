//! A small HTTP/1.1 server over which a test has the last word, down to the bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Path, e.g. `/v1/messages`.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: String,
}

impl Received {
    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Whether it was sent to the Anthropic API.
    #[must_use]
    pub fn is_anthropic(&self) -> bool {
        self.path.ends_with("/messages")
    }
}

/// What a script answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A response.
    Reply {
        /// HTTP status.
        status: u16,
        /// Headers beside those that HTTP needs.
        headers: Vec<(String, String)>,
        /// Body.
        body: String,
        /// Time until it is sent.
        delay: Duration,
    },
    /// The connection is closed without an answer.
    Close,
    /// Half of the body comes, then the connection is closed.
    Broken(String),
    /// Half of the body comes, then nothing more.
    Stalled(String),
    /// Bytes that are not HTTP.
    Garbage,
    /// Nothing ever comes.
    Hang,
}

impl Answer {
    /// A response with JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::text(status, body.to_string())
    }

    /// A response with anything.
    #[must_use]
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self::Reply { status, headers: vec![], body: body.into(), delay: Duration::ZERO }
    }

    /// The same with one more header, if it is a response.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        if let Self::Reply { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.into()));
        }
        self
    }

    /// The same, later, if it is a response.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        if let Self::Reply { delay, .. } = &mut self {
            *delay = wait;
        }
        self
    }
}

type Script = dyn Fn(&Received) -> Answer + Send + Sync;

/// A server on a free port of this machine. Ends when dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts it on the current Tokio runtime. `script` is asked for every request.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start(
        script: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, script): (_, Arc<Script>) = (Arc::clone(&received), Arc::new(script));
        let accepting = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                open.spawn(async move {
                    // A client that goes away is no fault of the test.
                    let _ = serve(stream, &log, &*script).await;
                });
                while open.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, received, accepting })
    }

    /// Its base URL, e.g. `http://127.0.0.1:40123`; fits both APIs.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order in which they came in.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, log: &Mutex<Vec<Received>>, script: &Script) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = read(&mut stream).await?;
    log.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    let mut stream = stream.into_inner();
    match script(&request) {
        Answer::Reply { status, headers, body, delay } => {
            tokio::time::sleep(delay).await;
            let head = head(status, &headers, body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).await?;
        }
        Answer::Close => {}
        Answer::Broken(body) => half(&mut stream, &body).await?,
        Answer::Stalled(body) => {
            half(&mut stream, &body).await?;
            std::future::pending::<()>().await;
        }
        Answer::Garbage => stream.write_all(b"\x00\x01 what is HTTP?\r\n\r\n").await?,
        Answer::Hang => std::future::pending().await,
    }
    stream.shutdown().await
}

async fn half(stream: &mut TcpStream, body: &str) -> io::Result<()> {
    let sent = &body.as_bytes()[..body.len() / 2];
    stream.write_all(head(200, &[], body.len()).as_bytes()).await?;
    stream.write_all(sent).await?;
    stream.flush().await
}

fn head(status: u16, headers: &[(String, String)], length: usize) -> String {
    let mut head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n"
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Received> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut received = Received { path, headers, body: String::new() };
    let length = received.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    received.body = String::from_utf8_lossy(&body).into_owned();
    Ok(received)
}
