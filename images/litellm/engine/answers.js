'use strict';
// What the engine answers in the JSON protocol, as prisma-client-py expects it of the GraphQL protocol:
// one result called "result", and plain values where the JSON protocol tags their types.

const RAW = /^\{"data":\{"(?:queryRaw|executeRaw)":/;
const RAW_ROWS = '{"data":{"queryRaw":{';

function untagged(value) {
  if (Array.isArray(value)) return value.map(untagged);
  if (!value || typeof value !== 'object') return value;
  if (typeof value.$type === 'string' && 'value' in value) {
    return value.$type === 'Json' || typeof value.value !== 'object' ? value.value : untagged(value.value);
  }
  for (const key of Object.keys(value)) value[key] = untagged(value[key]);
  return value;
}

// Clients before 0.14 read raw rows as engines before 5.14 wrote them: one {prisma__type, prisma__value} a cell.
function cell(type, value) {
  if (value === null) return '{"prisma__type":"null","prisma__value":null}';
  if (type.endsWith('-array')) {
    return `{"prisma__type":"array","prisma__value":[${value.map((item) => cell(type.slice(0, -'-array'.length), item)).join(',')}]}`;
  }
  const isWholeFloat = (type === 'double' || type === 'float') && Number.isInteger(value);
  return `{"prisma__type":${JSON.stringify(type)},"prisma__value":${isWholeFloat ? `${value}.0` : JSON.stringify(value)}}`;
}

function rowsAsObjects({ columns, types, rows }) {
  const row = (values) => `{${values.map((value, i) => `${JSON.stringify(columns[i])}:${cell(types[i], value)}`).join(',')}}`;
  return `[${rows.map(row).join(',')}]`;
}

function renamed(answer) {
  if (answer?.data) {
    const [name] = Object.keys(answer.data);
    answer.data = { result: name === 'queryRaw' ? answer.data[name] : untagged(answer.data[name]) };
  }
  return answer;
}

/** The engine's answer re-spelt, as text. `rawRowsAsObjects`: the client is older than 0.14. */
function toGraphqlAnswer(text, rawRowsAsObjects) {
  if (RAW.test(text)) { // by text alone, so that numbers stay as the engine wrote them
    if (rawRowsAsObjects && text.startsWith(RAW_ROWS)) return `{"data":{"result":${rowsAsObjects(JSON.parse(text).data.queryRaw)}}}`;
    return text.replace(RAW, '{"data":{"result":');
  }
  const answer = JSON.parse(text);
  if (answer.batchResult) answer.batchResult = answer.batchResult.map(renamed);
  else renamed(answer);
  return JSON.stringify(answer);
}

module.exports = { toGraphqlAnswer };
