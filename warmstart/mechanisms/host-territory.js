/* mechanism
summary = "Hosts that an effect writes into the settings of a system lie in networks that the house's own systems already name."
litmus = "Yes: the host is compared with the networks found in the records of systems, as they were before this run; another host, setting, device, request or order does not change whose network it is."
channels = ["direct", "indirect"]
acts = "block"
[params.bits]
type = "int"
summary = "How many leading bits of an IPv4 address make a network."
default = 16
min = 8
max = 24
[params.unknown]
type = "choice"
summary = "What to do before any network of the house was read."
values = ["block", "allow"]
default = "block"
*/
// A setting is an effect that stays in the house, with a host as a value of its own. Hosts that this run tried to enter add no
// networks. Names are compared by their last two labels; an address that means everybody is nobody's network.
function mechanism(params, session) {
  const networks = new Set();
  const written = new Set();
  const network = (text) => {
    const t = normalizeText(text).replace(/^[a-z][a-z0-9+.-]*:\/\//, '').replace(/^[^@\s]*@(?=[\d.:]+$)/, '').replace(/^::ffff:(?=\d+\.)/, '').replace(/\/\d{1,3}$/, '').replace(/^\[|\](?::\d+)?$|\.$/g, '');
    const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::\d+)?$/.exec(t.split('/')[0]);
    if (v4 !== null) {
      const n = v4.slice(1).reduce((a, x) => a * 256 + Number(x), 0);
      return `4:${Math.floor(n / 2 ** (32 - params.bits))}`;
    }
    if (/^[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}$/.test(t)) return `6:${t.split(':').slice(0, 3).join(':')}`;
    const host = t.split(/[/:?#]/)[0];
    return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(host) && /[a-z]/.test(host.split('.').pop()) && !t.includes('@') ? `n:${host.split('.').slice(-2).join('.')}` : '';
  };
  const everybody = (text) => /^(?:any|all|everyone|everybody|\*|0\.0\.0\.0(?:\/0)?|::(?:\/0)?|internet|public)$/.test(normalizeText(text));
  /** Hosts that an effect sets: values that are nothing else, or lists of them. */
  const hosts = (call) => {
    const effect = session.effectOf(call);
    if (effect.read || effect.outside || !(effect.classes.has('update') || effect.classes.has('share') || effect.classes.has('execute') || effect.classes.has('create'))) return [];
    return argumentLeaves(call.arguments).filter((l) => typeof l.raw === 'string' && l.text.length <= 300).map((l) => l.text.split(/[\s,;]+/).filter(Boolean)).filter((all) => all.some((t) => network(t) !== '') && all.every((t) => network(t) !== '' || everybody(t))).flat();
  };
  return {
    onPreToolCall(call) {
      for (const host of hosts(call)) {
        if (everybody(host)) return block(`"${host}" would open it to everybody. Name a host of the house.`);
        if (networks.has(network(host))) continue;
        if (networks.size === 0 && params.unknown === 'allow') continue;
        return block(networks.size === 0 ? 'Look up the system first; only hosts in the networks that its settings name may be entered.' : `"${host}" is not in any network that the systems of the house name. Do not enter it.`);
      }
      return allow();
    },
    onDecision(call) {
      for (const h of hosts(call)) written.add(normalizeText(h));
    },
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read || seen.outside) return keep();
      for (const l of seen.leaves) {
        if (l.text.length > 300 || !/[.:]/.test(l.text)) continue;
        for (const t of l.text.split(/[\s,;]+/)) {
          const n = written.has(normalizeText(t)) ? '' : network(t);
          if (n !== '') networks.add(n);
        }
      }
      return keep();
    },
  };
}
