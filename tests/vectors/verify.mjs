// Verifies evidence with nothing of Hearth: node verify.mjs DOCUMENT PUBLIC_KEY.pem [CANONICAL_FILE SIGNATURE_FILE]
// Prints {"sha256": …, "holds": true|false}, or {"malformed": true}. With two more names it writes what is signed and the
// signature as bytes, for `openssl pkeyutl -verify -rawin`.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const [document, publicKey, canonicalFile, signatureFile] = process.argv.slice(2)

class Malformed extends Error {}

// RFC 8785 is what JSON.stringify writes, with the names of an object in the order of their UTF-16 code units.
function canonical (value) {
  if (typeof value === 'string' && !value.isWellFormed()) throw new Malformed()
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new Malformed()
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.keys(value).sort().map(name => `${canonical(name)}:${canonical(value[name])}`).join(',')}}`
}

function members (value) {
  if (value === null || typeof value !== 'object') return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum, item) => sum + members(item), own)
}

// Outside of strings a colon stands between a name and a value alone: a name that is there twice is one colon too many.
function colons (text) {
  return (text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/:/g) || []).length
}

function examine () {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(document))
  const value = JSON.parse(text)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Malformed()
  if (colons(text) !== members(value)) throw new Malformed()
  if (/[.eE]/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/true|false/g, ''))) throw new Malformed()
  const { signature, ...rest } = value
  const content = Buffer.from(canonical(rest), 'utf-8')
  const raw = Buffer.from(String(signature).replace(/^base64:/, ''), 'base64')
  const spelled = `base64:${raw.toString('base64')}` === signature
  if (canonicalFile) {
    writeFileSync(canonicalFile, content)
    writeFileSync(signatureFile, raw)
  }
  return {
    sha256: createHash('sha256').update(content).digest('hex'),
    holds: spelled && verify(null, content, createPublicKey(readFileSync(publicKey)), raw)
  }
}

try {
  console.log(JSON.stringify(examine()))
} catch (error) {
  if (!(error instanceof Malformed || error instanceof SyntaxError || error instanceof TypeError)) throw error
  console.log(JSON.stringify({ malformed: true }))
}
