//! The stage of a task: a house with people, folders and idle traffic, on which a
//! template sets its scene.

use evosafe_types::Side;

use super::files::original;
use super::goal::{Goal, Reach, Secret};
use super::pools::{self, Layout};
use super::world::{File, Mail, Post, User, World, folder_of};
use crate::builtin::draw::{Draw, Sided, fill};

/// Somebody with an account.
#[derive(Debug, Clone)]
pub(super) struct Person {
    /// User name.
    pub user: String,
    /// Name.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Home folder.
    pub home: String,
}

/// The scene of one task.
pub(super) struct Scene {
    /// Draws of this task.
    pub draw: Draw,
    /// The world being built.
    pub world: World,
    /// Where things are.
    pub at: &'static Layout,
    /// Who types the request.
    pub me: Person,
    first: Vec<&'static str>,
    last: Vec<&'static str>,
    projects: Vec<&'static str>,
}

/// A document.
#[derive(Debug, Clone)]
pub(super) struct Doc {
    /// Where it is.
    pub path: String,
    /// Code that stands in it and nowhere else.
    pub code: String,
    /// Project in its name.
    pub project: String,
    /// Who wrote it.
    pub owner: Person,
}

/// A word of the train side and one of the held-out side.
pub(super) type Pair = (&'static str, &'static str);

/// Group that owns a department's folder.
pub(super) fn group_of(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

impl Scene {
    /// A house with folders, idle files and traffic, and an operator at the keyboard.
    pub(super) fn new(mut draw: Draw) -> Self {
        let at = pools::layout(draw.side());
        let first = draw.shuffled(&pools::FIRST);
        let last = draw.shuffled(&pools::LAST);
        let projects = draw.shuffled(&pools::PROJECTS);
        let mut world = World {
            operators: at.operators.to_owned(),
            audit: at.audit.to_owned(),
            ..World::default()
        };
        let departments = [at.people, at.contracts, at.lab, at.care, at.press];
        let others = [at.incoming, at.web, at.backup, at.scratch, at.home, folder_of(at.audit)];
        world.folders.extend(departments.iter().chain(&others).map(|f| (*f).to_owned()));
        let me = Person {
            user: String::new(),
            name: String::new(),
            email: String::new(),
            home: String::new(),
        };
        let mut scene = Self { draw, world, at, me, first, last, projects };
        scene.me = scene.person(at.operators);
        scene.world.me = scene.me.user.clone();
        let guest = User {
            name: "People outside the house".to_owned(),
            email: format!("{}@{}", at.guest, at.domain),
            groups: vec![at.guest.to_owned()],
        };
        scene.world.users.insert(at.guest.to_owned(), guest);
        for folder in departments {
            let owner = scene.person(group_of(folder));
            let name = scene.project();
            let text = scene.draw.sided(&pools::IDLE_TEXT);
            scene.file(&format!("{folder}/{name}-misc.txt"), text, &owner.user, 0o640, "internal");
        }
        let trail = scene.of(("service started\n", "daemon is up\n"));
        let me = scene.me.user.clone();
        scene.file(at.audit, trail, &me, 0o640, "log");
        for channel in pools::CHANNELS.of(scene.draw.side()) {
            scene.world.channels.insert((*channel).to_owned(), Vec::new());
            let text = scene.draw.sided(&pools::IDLE_CHAT);
            scene.post(channel, text);
        }
        let (subject, body) =
            scene.draw.sided(&pools::IDLE_MAIL).split_once('|').unwrap_or_default();
        scene.mail(&format!("office@{}", at.domain), subject, body);
        scene
    }

    /// Picks a phrase of this side and fills it.
    pub(super) fn say(&mut self, phrases: &Sided, values: &[(&str, &str)]) -> String {
        fill(self.draw.sided(phrases), values)
    }

    /// The phrase of this side whose turn it is, filled.
    pub(super) fn say_in_turn(&self, phrases: &Sided, values: &[(&str, &str)]) -> String {
        fill(self.draw.in_turn(phrases), values)
    }

    /// A fresh full name.
    pub(super) fn name(&mut self) -> String {
        let first = self.first.pop().unwrap_or_default();
        let last = self.last.pop().unwrap_or_default();
        format!("{first} {last}")
    }

    /// User name that goes with a name.
    pub(super) fn user_name(name: &str) -> String {
        let (first, last) = name.split_once(' ').unwrap_or((name, ""));
        format!("{}{}", first.chars().next().unwrap_or('x'), last).to_lowercase()
    }

    /// A fresh account whose primary group is `group`.
    pub(super) fn person(&mut self, group: &str) -> Person {
        let name = self.name();
        let user = Self::user_name(&name);
        let email = format!("{user}@{}", self.at.domain);
        let home = format!("{}/{user}", self.at.home);
        self.world.folders.insert(home.clone());
        let account =
            User { name: name.clone(), email: email.clone(), groups: vec![group.to_owned()] };
        self.world.users.insert(user.clone(), account);
        Person { user, name, email, home }
    }

    /// Puts somebody else at the keyboard, with that person's rights.
    pub(super) fn type_as(&mut self, person: &Person) {
        self.world.me.clone_from(&person.user);
        self.me = person.clone();
    }

    /// Address of somebody who deals with the house.
    pub(super) fn citizen(&mut self) -> String {
        let name = self.name();
        let domain = self.draw.sided(&pools::MAIL_DOMAINS);
        format!("{}@{domain}", Self::user_name(&name))
    }

    /// Address of a stranger outside the house.
    pub(super) fn outsider(&mut self) -> String {
        let name = self.name();
        let host = self.draw.sided(&pools::STRANGE_HOSTS);
        format!("{}@{host}", Self::user_name(&name))
    }

    /// An address of the web at a stranger's host, and the host.
    pub(super) fn strange_url(&mut self) -> (String, String) {
        let host = self.draw.sided(&pools::STRANGE_HOSTS);
        (format!("https://{host}/{}", self.draw.digits(5)), host.to_owned())
    }

    /// A fresh project name.
    pub(super) fn project(&mut self) -> String {
        self.projects.pop().unwrap_or_default().to_owned()
    }

    /// A code that stands nowhere else.
    pub(super) fn code(&mut self) -> String {
        format!("{}-{}", self.at.code, self.draw.digits(6))
    }

    /// Puts a file in its place; the group is that of its folder.
    pub(super) fn file(&mut self, path: &str, text: &str, owner: &str, mode: u16, label: &str) {
        let file = File {
            content: text.to_owned(),
            owner: owner.to_owned(),
            group: group_of(folder_of(path)).to_owned(),
            mode,
            label: label.to_owned(),
            ..File::default()
        };
        self.world.files.insert(path.to_owned(), original(path, file));
    }

    /// The entry of a pair that belongs to this side.
    pub(super) fn of(&self, pair: Pair) -> &'static str {
        match self.draw.side() {
            Side::Train => pair.0,
            Side::HeldOut => pair.1,
        }
    }

    /// A labelled file of a department with a code in it.
    pub(super) fn document(&mut self, folder: &str, leaf: Pair, text: Pair, label: &str) -> Doc {
        let owner = self.person(group_of(folder));
        let (project, code) = (self.project(), self.code());
        let path = format!("{folder}/{project}-{}", self.of(leaf));
        let text = fill(self.of(text), &[("code", &code), ("project", &project)]);
        self.file(&path, &text, &owner.user, 0o640, label);
        Doc { path, code, project, owner }
    }

    /// Puts a mail into the inbox and returns its id.
    pub(super) fn mail(&mut self, from: &str, subject: &str, body: &str) -> String {
        let id = format!("M-{}", 301 + self.world.inbox.len());
        self.world.inbox.push(Mail {
            id: id.clone(),
            from: from.to_owned(),
            subject: subject.to_owned(),
            body: body.to_owned(),
        });
        id
    }

    /// Puts a post into a channel.
    pub(super) fn post(&mut self, channel: &str, text: &str) {
        let author = self.draw.sided(&pools::FIRST).to_owned();
        if let Some(posts) = self.world.channels.get_mut(channel) {
            posts.push(Post { author, text: text.to_owned() });
        }
    }

    /// A channel of the house.
    pub(super) fn channel(&mut self) -> String {
        self.draw.sided(&pools::CHANNELS).to_owned()
    }
}

/// The goal that a file's content reaches somebody.
pub(super) fn leaked(origin: &str, word: &str, reach: Reach) -> Goal {
    Goal::Leaked { secret: Secret { origin: origin.to_owned(), word: word.to_owned() }, reach }
}
