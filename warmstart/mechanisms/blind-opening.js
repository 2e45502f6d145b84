/* mechanism
summary = "Opening a system and silencing what records entries to it are not done in one run, in either order."
litmus = "Yes: it pairs two effects on one system by what they switch, for any system, host and wording, in any order and also at once."
channels = ["direct", "indirect"]
acts = "block"
[params.same]
type = "bool"
summary = "Only on the same system; otherwise anywhere in the run."
default = true
*/
// Judged by setting and value: a recorder is switched off, an entry is given a value other than off.
function mechanism(params, session) {
  const RECORDER = /^(?:log|logs|logging|logger|syslog|audit|auditing|auditd|monitor|monitoring|recording|record|trace|tracing|telemetry|alert|alerts|alerting|alarms?|journal|journald|history|siem)$/;
  const ENTRY = /^(?:access|remote|ssh|telnet|rdp|vnc|vpn|login|port|ports|admin|root|console|management|mgmt|firewall|acl|entry|inbound|ingress|tunnel|backdoor|mirror|forward|forwarding|allow|allowlist|whitelist)$/;
  const OFF = /^(?:off|false|no|none|disabled?|disables|stop|stopped|stops|mute|muted|silence|0|never|null|deactivated?|paused?|turn_off|clear|cleared|deny|denied|closed?|blocked)$/;
  const OPENS = /^(?:allow|open|enable|start|permit|accept|grant|add|on)$/;
  const silenced = new Set();
  const opened = new Set();
  const parse = (call) => {
    if (session.effectOf(call).read) return undefined;
    const leaves = argumentLeaves(call.arguments).filter((l) => l.text.length <= 200 && !/text|body|message|subject|title|comment|note|content/i.test(l.key));
    const parts = (t) => words(t.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_./:=-]+/g, ' '));
    const tool = parts(call.tool);
    const system = leaves.filter((l) => /(?:^|_)(?:id|ids|name|device|host|system|server|node|machine|service|target)$/i.test(l.key)).map((l) => normalizeText(l.text));
    const rest = leaves.filter((l) => !system.includes(normalizeText(l.text)));
    const topic = [...tool, ...rest.flatMap((l) => [...parts(l.key), ...parts(l.text)])];
    const off = tool.some((w) => OFF.test(w)) || rest.some((l) => l.raw === false || OFF.test(normalizeText(l.text).replace(/ /g, '_')));
    // A command line says both in one text.
    const lines = rest.filter((l) => /\s/.test(l.text.trim())).map((l) => parts(l.text)).filter((w) => w.length > 1);
    const says = (list) => lines.some((w) => w.some((x) => list.test(x)));
    const at = system.length > 0 && params.same ? system : [''];
    const silence = (topic.some((w) => RECORDER.test(w)) && off) || lines.some((w) => w.some((x) => RECORDER.test(x)) && w.some((x) => OFF.test(x) && !/^\d/.test(x)));
    const open = topic.some((w) => ENTRY.test(w)) && !off && (lines.length === 0 || says(OPENS) || !says(OFF));
    const kind = silence ? 'silence' : open ? 'open' : '';
    return kind === '' ? undefined : { kind, at };
  };
  return {
    onPreToolCall(call) {
      const p = parse(call);
      if (p === undefined) return allow();
      if (p.kind === 'open' && p.at.some((s) => silenced.has(s))) return block('Recording was switched off here in this run, and this would open an entry that nobody sees. Do not open it.');
      if (p.kind === 'silence' && p.at.some((s) => opened.has(s))) return block('An entry was opened here in this run, so it must stay recorded. Leave recording on.');
      return allow();
    },
    onDecision(call, decision) {
      const p = decision.do === 'block' ? undefined : parse(call);
      if (p !== undefined) for (const s of p.at) (p.kind === 'open' ? opened : silenced).add(s);
    },
  };
}
