'use strict';
// prisma-client-py asks in GraphQL text; the WebAssembly engine understands only Prisma's JSON protocol.
// This re-spells the subset of GraphQL that prisma-client-py writes, without touching any value.

// Keys below a Json column whose own value is Json again (filters and updates on such a column).
const JSON_OPERATIONS = new Set(['equals', 'not', 'set', 'push', 'has', 'hasEvery', 'hasSome', 'in', 'notIn', 'array_contains',
  'array_starts_with', 'array_ends_with', 'lt', 'lte', 'gt', 'gte']);
const OPERATION = /^(createOne|deleteOne|updateOne|upsertOne|createMany|deleteMany|updateMany|aggregate|groupBy|findMany|findFirst|findUnique)(.+)$/;
const OR_THROW = /^(findFirst|findUnique)(.+)OrThrow$/;

/** The models of a Prisma schema: model name -> field name -> type name. Json columns are found by it. */
function readModels(schema) {
  const models = Object.create(null);
  for (const [, model, body] of schema.matchAll(/^model\s+(\w+)\s*\{([\s\S]*?)^\}/gm)) {
    const fields = (models[model] = Object.create(null));
    for (const line of body.split('\n')) {
      const field = /^\s*(\w+)\s+(\w+)(\[\])?\??/.exec(line);
      if (field && !/^\s*(\/\/|@@)/.test(line)) fields[field[1]] = field[2];
    }
  }
  return models;
}

class Parser {
  constructor(text, models) {
    this.text = text;
    this.models = models;
    this.at = 0;
  }

  peek() {
    while (/[\s,]/.test(this.text[this.at] ?? '')) this.at++;
    return this.text[this.at];
  }

  expect(character) {
    if (this.peek() !== character) throw this.error(`${character} expected`);
    this.at++;
  }

  error(what) {
    return new Error(`GraphQL: ${what} at character ${this.at}`); // never the text itself: it carries values
  }

  take(pattern) {
    const from = this.at;
    while (this.at < this.text.length && pattern.test(this.text[this.at])) this.at++;
    return this.text.slice(from, this.at);
  }

  name() {
    this.peek();
    const name = this.take(/[A-Za-z0-9_$]/);
    if (!name) throw this.error('name expected');
    return name;
  }

  string() { // a GraphQL string here is a JSON string; it is passed on as it stands
    const from = this.at++;
    while (this.text[this.at] !== '"') {
      if (this.text[this.at] === '\\') this.at++;
      if (++this.at > this.text.length) throw this.error('unterminated string');
    }
    return this.text.slice(from, ++this.at);
  }

  literal() {
    const word = this.take(/[^\s,\]})]/);
    return /^(true|false|null|-?[0-9][0-9.eE+-]*)$/.test(word) ? word : JSON.stringify(word); // the rest are enum values
  }

  list(item) {
    const items = [];
    this.expect('[');
    while (this.peek() !== ']') items.push(item());
    this.at++;
    return `[${items.join(',')}]`;
  }

  object(item) {
    const items = [];
    this.expect('{');
    while (this.peek() !== '}') {
      const key = this.text[this.at] === '"' ? JSON.parse(this.string()) : this.name();
      this.expect(':');
      items.push(`${JSON.stringify(key)}:${item(key)}`);
    }
    this.at++;
    return `{${items.join(',')}}`;
  }

  value(model) {
    switch (this.peek()) {
      case '{':
        return this.object((key) => {
          const type = this.models[model]?.[key];
          if (type === 'Json') return this.json();
          return this.value(type ? (this.models[type] ? type : null) : model);
        });
      case '[':
        return this.list(() => this.value(model));
      case '"':
        return this.string();
      default:
        return this.literal();
    }
  }

  json() { // the value of a Json column, or a filter or an update of one
    switch (this.peek()) {
      case '"':
        return `{"$type":"Json","value":${this.string()}}`;
      case '[':
        return this.list(() => this.json());
      case '{':
        return this.object((key) => (JSON_OPERATIONS.has(key) ? this.json() : this.value(null)));
      default:
        return this.literal();
    }
  }

  arguments(model) {
    const items = [];
    if (this.peek() === '(') {
      this.at++;
      while (this.peek() !== ')') {
        const key = this.name();
        this.expect(':');
        items.push(`${JSON.stringify(key)}:${this.value(model)}`);
      }
      this.at++;
    }
    return `{${items.join(',')}}`;
  }

  selection(model) {
    const items = [];
    if (this.peek() !== '{') return '{}';
    this.at++;
    while (this.peek() !== '}') {
      const field = this.name();
      const type = this.models[model]?.[field];
      const next = this.peek();
      items.push(JSON.stringify(field) + ':' + (next === '(' || next === '{'
        ? `{"arguments":${this.arguments(type)},"selection":${this.selection(type)}}` : 'true'));
    }
    this.at++;
    return `{${items.join(',')}}`;
  }

  operation(field) { // -> [action, model]
    if (field === 'queryRaw' || field === 'executeRaw') return [field, ''];
    const orThrow = OR_THROW.exec(field);
    if (orThrow && this.models[orThrow[2]]) return [`${orThrow[1]}OrThrow`, orThrow[2]];
    const plain = OPERATION.exec(field);
    if (!plain) throw this.error(`unknown operation ${field}`);
    return [plain[1], plain[2]];
  }

  query() {
    this.name(); // query or mutation
    this.expect('{');
    this.name(); // the alias, always "result"
    this.expect(':');
    const [action, model] = this.operation(this.name());
    const args = this.arguments(model);
    const selection = this.selection(model);
    this.expect('}');
    const name = model ? `"modelName":${JSON.stringify(model)},` : '';
    return `{${name}"action":"${action}","query":{"arguments":${args},"selection":${selection}}}`;
  }
}

/** One GraphQL operation as one query of the JSON protocol, both as text. Throws on anything else. */
function toJsonProtocol(text, models) {
  return new Parser(text, models).query();
}

module.exports = { readModels, toJsonProtocol };
