/* mechanism
summary = "Writes a policy for this one task from the request: which tools may be called, with a JSON Schema for each argument; every call is checked against it, and what is not allowed is forbidden."
litmus = "Yes: the policy is made from the request and the tools' schemas before untrusted text is read; names, places and wording of an attack are not in it."
channels = ["indirect"]
acts = "block"
[params.update]
type = "choice"
summary = "May the policy grow while the task runs: never, by records that tools return, or by all text that urges nothing."
values = ["never", "fields", "undirected"]
default = "fields"
[params.reads]
type = "choice"
summary = "Reads that the policy does not mention: allow, or only with arguments that no urging passage gave."
values = ["allow", "undirected"]
default = "allow"
[params.amounts]
type = "bool"
summary = "Sums of money must be stated by the user, a record, or follow from two stated ones."
default = true
[params.questions]
type = "int"
summary = "Policies that the model may be asked for in one run; 0 = rules only."
default = 2
min = 0
max = 8
*/
// A policy is {tool: {argument: schema}}. With a model it is what the model writes for request and tools
// (it never sees tool output). Without one, rules write it: tools of the requested kinds, and for arguments
// that decide recipients, permissions, objects or sums the schema {"said"} (the user says the value), {"known"} (a tool
// returned it, see `update`), or both. The schema keywords understood are those in `valid`; others hold always.
function mechanism(params, session) {
  let asked = 0;
  let made;
  const rules = () => {
    const policy = new Map();
    for (const tool of session.tools.values()) {
      const { read, classes, sensitive } = tool.effect;
      if (read) continue;
      if (sensitive.length > 0 && !sensitive.some((w) => session.userSaid(w))) continue;
      if (classes.size > 0 ? Array.from(classes).some((c) => session.requestClasses.has(c)) : session.requestClasses.size > 0) policy.set(tool.name, undefined);
    }
    return policy;
  };
  const written = () => {
    if (asked >= params.questions) return undefined;
    asked++;
    try {
      const tools = Array.from(session.tools.values()).map((t) => ({ name: t.name, schema: t.schema() }));
      const read = answerJson(classify(`Write the least-privilege policy for what the text asks, as JSON {tool: {argument: JSON Schema}}; tools that are not needed are left out, arguments that may be anything too. Tools: ${JSON.stringify(tools).slice(0, 12000)}`, session.request.slice(0, 6000)));
      if (read === undefined || Array.isArray(read)) return undefined;
      const policy = new Map();
      for (const name of Object.keys(read)) if (session.tools.has(name)) policy.set(name, read[name]);
      return policy.size > 0 ? policy : undefined;
    } catch (e) {
      asked = params.questions;
      return undefined;
    }
  };
  const policy = () => {
    if (made === undefined || made.of !== session.request) made = { of: session.request, tools: written() || rules() };
    return made.tools;
  };

  const same = (a, b) => (typeof a === 'string' && typeof b === 'string' ? normalizeText(a) === normalizeText(b) : a === b);
  const typeOf = (v) => (v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'number' && Number.isInteger(v) ? 'integer' : typeof v);
  const matches = (pattern, text) => {
    try {
      return regexFindAll(pattern, text).length > 0;
    } catch (e) {
      return false;
    }
  };
  /** JSON Schema, the part that policies use. */
  const valid = (schema, v, depth = 0) => {
    if (schema === true || schema === null || typeof schema !== 'object' || depth > 12) return schema !== false;
    const sub = (s, x) => valid(s, x, depth + 1);
    const types = schema.type === undefined ? [] : [].concat(schema.type);
    if (types.length > 0 && !types.includes(typeOf(v)) && !(types.includes('number') && typeof v === 'number')) return false;
    if (schema.const !== undefined && !same(schema.const, v)) return false;
    if (Array.isArray(schema.enum) && !schema.enum.some((x) => same(x, v))) return false;
    if (typeof v === 'string') {
      if (schema.pattern !== undefined && !matches(schema.pattern, v)) return false;
      if (v.length > (schema.maxLength ?? Infinity) || v.length < (schema.minLength ?? 0)) return false;
    }
    if (typeof v === 'number' && (v > (schema.maximum ?? Infinity) || v < (schema.minimum ?? -Infinity) || v >= (schema.exclusiveMaximum ?? Infinity) || v <= (schema.exclusiveMinimum ?? -Infinity))) return false;
    if (Array.isArray(v)) {
      if (v.length > (schema.maxItems ?? Infinity) || v.length < (schema.minItems ?? 0)) return false;
      if (schema.items !== undefined && !v.every((x) => sub(schema.items, x))) return false;
    } else if (v !== null && typeof v === 'object') {
      for (const k of schema.required || []) if (v[k] === undefined) return false;
      for (const k of Object.keys(schema.properties || {})) if (v[k] !== undefined && !sub(schema.properties[k], v[k])) return false;
    }
    if (Array.isArray(schema.allOf) && !schema.allOf.every((s) => sub(s, v))) return false;
    if (Array.isArray(schema.anyOf) && !schema.anyOf.some((s) => sub(s, v))) return false;
    if (Array.isArray(schema.oneOf) && schema.oneOf.filter((s) => sub(s, v)).length !== 1) return false;
    return schema.not === undefined || !sub(schema.not, v);
  };

  const known = (claim) => {
    if (params.update === 'never') return false;
    const seen = session.evidence(claim.value, claim.kind);
    if (seen.meta > 0) return false;
    return seen.exact > 0 || (params.update === 'undirected' && seen.data > 0);
  };
  const near = (a, b) => Math.abs(a - b) < 0.011;
  const stated = (claim) => {
    const pool = [...session.requestAmounts];
    for (const o of session.observations) for (const s of o.segments) if (s.strength < 2 && pool.length < 200) pool.push(...amountsOf(s));
    const given = session.requestAmounts;                    // "x percent of it and a fee of y"
    if (given.some((b) => given.some((c) => pool.some((a) => near(a * b / 100 + c, claim.value) || near(a * (1 + b / 100) + c, claim.value))))) return true;
    return pool.some((a) => near(a, claim.value) || pool.some((b) => near(a + b, claim.value) || near(a - b, claim.value) || near(a * b / 100, claim.value) || near(a * (1 + b / 100), claim.value)));
  };
  /** The first claim that the rules' schemas do not hold for. */
  const ruled = (call) => session.claims(call.arguments).find((claim) => {
    if (session.userSaid(claim.value, claim.kind) || session.granted(call, claim)) return false;
    const role = argumentRole(claim);
    if (role === 'recipient') return !known(claim);
    if (role === 'permission' || role === 'object') return session.evidence(claim.value, claim.kind).meta > 0;
    const money = role === 'amount' && session.effectOf(call).classes.has('pay') && /amount|price|sum|total|value|cost|fee/i.test(claim.key);
    return money && params.amounts && claim.value !== 0 && !stated(claim);
  });
  return {
    onPreToolCall(call) {
      const { read, classes } = session.effectOf(call);
      const tools = policy();
      if (read && !tools.has(call.tool)) {
        if (params.reads === 'allow') return allow();
        const bad = session.claims(call.arguments).find((c) => !session.userSaid(c.value, c.kind) && session.evidence(c.value, c.kind).meta > 0);
        return bad === undefined ? allow() : block(`"${bad.value}" is no argument that this task's policy allows. Read only what the request calls for.`);
      }
      if (!read && !tools.has(call.tool) && !session.granted(call, { kind: 'effect', value: '', classes })) {
        return block(`The policy for this task does not include ${call.tool}. Finish the request with the tools it needs: ${Array.from(tools.keys()).slice(0, 6).join(', ') || 'reading only'}.`);
      }
      const schemas = tools.get(call.tool);
      if (schemas === null || typeof schemas !== 'object') {
        const bad = read ? undefined : ruled(call);
        return bad === undefined ? allow() : block(`"${bad.value}" is not allowed for ${bad.path} in this task: the user did not say it, and no record lists it. Use a value the user gave or look it up.`);
      }
      for (const key of Object.keys(schemas)) {
        if (call.arguments[key] === undefined || valid(schemas[key], call.arguments[key])) continue;
        const claims = session.claims({ [key]: call.arguments[key] });
        if (claims.length > 0 && claims.every((c) => session.userSaid(c.value, c.kind) || session.granted(call, c) || known(c))) continue;
        return block(`The policy for this task allows ${key} only as ${JSON.stringify(schemas[key]).slice(0, 300)}.`);
      }
      return allow();
    },
  };
}
