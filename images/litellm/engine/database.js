'use strict';
// The connection pool that the engine queries through, and the knowledge whether the database was reachable:
// the native engine reports a lost database by codes (P1001) that clients act on, the adapter by a vague error.
const pg = require('pg');

const UNREACHABLE = new RegExp(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'Connection terminated',
  'connection.*timeout', 'timeout exceeded when trying to connect', 'not queryable', 'terminating connection', 'server closed',
  '57P0[123]', '08\\d{3}', 'the database system is'].join('|'), 'i');
// Types that the adapter refuses and the native engine reads as text (name, "char", regclass, void, interval), by OID.
const TEXT = 25, TEXT_ARRAY = 1009;
const READ_AS = { 18: TEXT, 19: TEXT, 2205: TEXT, 2206: TEXT, 2278: TEXT, 705: TEXT, 1186: TEXT, 1002: TEXT_ARRAY, 1003: TEXT_ARRAY, 2210: TEXT_ARRAY };

class Database {
  /** url: a PostgreSQL URL with Prisma's query parameters (schema, connection_limit, pool_timeout, sslmode, …; times in seconds). */
  constructor(url) {
    const parsed = new URL(url), query = parsed.searchParams;
    const number = (key, fallback) => (query.has(key) ? Number(query.get(key)) : fallback);
    const sslmode = query.get('sslmode');
    const usesTls = sslmode && sslmode !== 'disable' && sslmode !== 'prefer';
    this.schema = query.get('schema') || 'public';
    this.address = `${parsed.hostname}:${parsed.port || 5432}`;
    this.lost = null;
    this.pool = new pg.Pool({
      host: query.get('host') || decodeURIComponent(parsed.hostname) || 'localhost',
      port: Number(parsed.port || 5432),
      user: decodeURIComponent(parsed.username) || undefined,
      password: parsed.password ? decodeURIComponent(parsed.password) : undefined,
      database: decodeURIComponent(parsed.pathname.slice(1)) || 'postgres',
      ssl: usesTls ? { rejectUnauthorized: query.get('sslaccept') === 'strict' } : false,
      max: number('connection_limit', 5),
      connectionTimeoutMillis: Math.max(number('connect_timeout', 5), number('pool_timeout', 10)) * 1000,
      idleTimeoutMillis: number('max_idle_connection_lifetime', 300) * 1000,
      application_name: query.get('application_name') || 'prisma-query-engine-wasm',
      options: `-c TimeZone=UTC -c search_path="${this.schema}"${query.has('options') ? ` ${query.get('options')}` : ''}`,
    });
    this.pool.on('error', () => {}); // an idle connection was lost: the pool opens another when one is needed
    this.#watchQueries(this.pool);
    const connect = this.pool.connect.bind(this.pool);
    this.pool.connect = (callback) => {
      if (callback) return connect(callback);
      const connected = connect();
      connected.catch((error) => this.#note(error));
      return connected.then((client) => this.#watchQueries(client));
    };
  }

  static isUnreachable(error) {
    return UNREACHABLE.test(`${error?.code} ${error?.message}`);
  }

  #note(error) {
    if (Database.isUnreachable(error)) this.lost = error;
  }

  #watchQueries(client) {
    if (client.isWatched) return client;
    client.isWatched = true;
    const query = client.query.bind(client);
    client.query = (config, ...rest) => {
      if (config?.types) {
        const parser = config.types.getTypeParser;
        config.types = { getTypeParser: (oid, format) => parser(READ_AS[oid] || oid, format) };
      }
      const running = query(config, ...rest);
      if (!running?.then) return running;
      running.catch((error) => this.#note(error));
      return running.then((result) => {
        for (const field of result?.fields ?? []) field.dataTypeID = READ_AS[field.dataTypeID] || field.dataTypeID;
        return result;
      });
    };
    return client;
  }

  /** The answer of the native engine when the database cannot be reached, as text. */
  unreachableAnswer() {
    const [host, port] = this.address.split(':');
    const message = `Can't reach database server at \`${this.address}\``;
    return JSON.stringify({
      errors: [{
        error: message,
        user_facing_error: {
          is_panic: false, error_code: 'P1001', meta: { database_host: host, database_port: Number(port) },
          message: `${message}\n\nPlease make sure your database server is running at \`${this.address}\`.`,
        },
      }],
    });
  }

  /** Whether this answer of the engine is its vague way to say that the database went away. */
  wentAway(answer) {
    return this.lost && (answer.includes('"P2036"') || (answer.includes('"P2010"') && /57P0|08\d{3}/.test(answer))
      || answer.includes('terminating connection') || answer.includes('the database system is'));
  }
}

module.exports = { Database };
