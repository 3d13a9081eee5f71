// What an application does with the openai library: node openai.mjs BASE_URL, the key in OPENAI_API_KEY.
// Prints one JSON object of what it read; a test compares it.
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.argv[2], maxRetries: 0 })
const messages = [{ role: 'user', content: 'Which colour has the sky?' }]
const found = {}

const answer = await client.chat.completions.create({ model: 'gemma', messages, store: false, user: 'alice' })
found.chat = answer.choices[0].message.content

let text = ''
let sent = 0
const stream = await client.chat.completions.create({
  model: 'gemma', messages, stream: true, stream_options: { include_usage: true }
})
for await (const part of stream) {
  text += part.choices[0]?.delta?.content ?? ''
  sent += 1
}
found.stream = text
found.several = sent > 1

found.completion = (await client.completions.create({ model: 'gemma', prompt: 'The sky is' })).choices[0].text
// The library asks for base64 of its own accord, and takes numbers as well.
found.embedding = (await client.embeddings.create({ model: 'gemma', input: 'sky', encoding_format: 'float' })).data[0].embedding
found.responses = (await client.responses.create({ model: 'gemma', input: 'Which colour has the sky?' })).output_text

found.models = []
for await (const model of client.models.list()) found.models.push(model.id)
found.model = (await client.models.retrieve('gemma')).id

const refused = async (name, ask) => {
  try {
    await ask()
    found[name] = 'answered'
  } catch (error) {
    found[name] = [error.constructor.name, error.status, error.code]
  }
}
await refused('unknownModel', () => client.chat.completions.create({ model: 'nothing', messages }))
await refused('unknownField', () => client.chat.completions.create({ model: 'gemma', messages, num_retries: 5 }))
await refused('wrongKey', () => client.withOptions({ apiKey: 'none' }).chat.completions.create({ model: 'gemma', messages }))

const gone = new AbortController()
const pieces = await client.chat.completions.create({ model: 'gemma', messages, stream: true }, { signal: gone.signal })
for await (const piece of pieces) {
  found.aborted = piece.object
  gone.abort()
}

console.log(JSON.stringify(found))
