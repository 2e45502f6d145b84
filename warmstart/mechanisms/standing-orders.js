/* mechanism
summary = "What goes on after the run is kept narrow: a scheduled command is one whose parts are known here or that the user gave word for word, it lives on nothing the run itself wrote, and accounts and jobs do not come together."
litmus = "Yes: it looks at what a job would run and on what, not at its name; another program, host, file or order of steps changes nothing."
channels = ["direct", "indirect"]
acts = "block"
[params.opaque]
type = "choice"
summary = "Programs that no tool on offer describes: fine if the user gave the whole command, or never."
values = ["said", "never"]
default = "said"
[params.fresh]
type = "bool"
summary = "Such a program may not work on a file that this run wrote."
default = true
[params.both]
type = "bool"
summary = "A run that gives an account or a membership schedules nothing, and the other way round."
default = true
*/
// A program is known if a tool on offer has its name or a tool's description lists it. A job is recognised by a
// schedule beside a command.
function mechanism(params, session) {
  const COMMAND = /^(?:command|cmd|script|command_?line|task|action)$/i;
  const WHEN = /^(?:schedule|cron|cron_?expression|interval|frequency|when|every)$/i;
  const ACCOUNT = /^(?:user|account|login|member|user_?name)$/i;
  const GROUP = /^(?:groups?|roles?|teams?|membership)$/i;
  const fresh = new Set();
  let jobs = 0;
  let members = 0;
  const leaf = (call, re) => argumentLeaves(call.arguments).find((l) => re.test(l.key));
  const clean = (path) => String(path).replace(/\/(?:\.?\/)+/g, '/').replace(/["']/g, '');
  const isJob = (call) => !session.effectOf(call).read && leaf(call, WHEN) !== undefined && leaf(call, COMMAND) !== undefined;
  const isMember = (call) => !session.effectOf(call).read && leaf(call, ACCOUNT) !== undefined && leaf(call, GROUP) !== undefined;
  let listed;
  const known = (program) => {
    if (listed === undefined) listed = new Set(Array.from(session.tools.values()).filter((t) => Object.keys(t.schema().properties || {}).some((k) => COMMAND.test(k))).flatMap((t) => words(t.description)));
    return session.tools.has(program) || listed.has(program.toLowerCase());
  };
  const programs = (line) => line.split(/&&|\|\||[;|&\n]/).map((p) => (p.trim().split(/\s+/)[0] || '').replace(/^.*\//, '').replace(/["']/g, '')).filter(Boolean);
  const paths = (line) => line.split(/[\s"'<>;|&=]+/).filter((w) => /^[/~]./.test(w)).map(clean);
  return {
    onPreToolCall(call) {
      if (isJob(call)) {
        if (params.both && members > 0) return block('This run gave somebody an account or a membership, and this would schedule something as well. Things that outlast the run are set up one at a time; leave the job to a request of its own.');
        const line = leaf(call, COMMAND).text;
        const strange = programs(line).find((p) => !known(p));
        const hidden = /[`$]/.test(line.replace(/'[^']*'/g, ''));
        if (strange === undefined && !hidden) return allow();
        const what = strange === undefined ? 'something that is only put together when it runs' : `"${strange}"`;
        if (hidden || params.opaque === 'never' || !session.userSaid(line)) return block(`The job would run ${what} without anybody looking, and the user did not give this command. Schedule only the command that the user gave, in full.`);
        if (extractValues(line).some((v) => v.kind === 'url')) return block(`The job would run ${what} with what an address outside serves, without anybody looking. Leave it out.`);
        const own = params.fresh ? paths(line).find((p) => fresh.has(p)) : undefined;
        if (own !== undefined) return block(`The job would run ${what} by ${own}, which was only written in this run and which nobody has reviewed. Leave the job out.`);
        return allow();
      }
      if (params.both && jobs > 0 && isMember(call)) return block('A job was scheduled in this run, and this would also give somebody an account or a membership. Leave that to a request of its own.');
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do === 'block' || session.effectOf(call).read) return;
      if (isJob(call)) { jobs++; return; }
      if (isMember(call)) members++;
      for (const l of argumentLeaves(call.arguments)) for (const p of COMMAND.test(l.key) ? paths(l.text) : [clean(l.text)]) if (/^[/~]./.test(p) && !/\s/.test(p)) fresh.add(p);
    },
  };
}
