import pg from 'pg';

/** Members of node-postgres that its types omit. */
type ClientConnection = pg.Connection & {
  connect(port: number, host: string): void;
  cancel(processId: number, secretKey: number): void;
};
type RunningClient = pg.PoolClient & {
  host: string;
  port: number;
  ssl: unknown;
  sslNegotiation: string;
  processID: number | null;
  secretKey: number | null;
  connection: ClientConnection;
};

const CONNECT_WITHIN_MS = 5_000;
/** A cancel request that overtakes its statement has no effect, so it is repeated. */
const AGAIN_AFTER_MS = 200;
const ATTEMPTS = 5;

/**
 * Cancels the running statement of this connection over a separate connection, as the protocol requires. It works through a pooler too,
 * where `pg_cancel_backend` would not find the process. Never rejects: the caller learns the outcome from the statement.
 */
function requestCancel(client: pg.PoolClient): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as RunningClient;
  if (processID === null || secretKey === null) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wire = new pg.Connection({ ssl, sslNegotiation } as never) as ClientConnection;
  const timer = setTimeout(() => wire.stream.destroy(), CONNECT_WITHIN_MS);
  const send = (): void => wire.cancel(processID, secretKey);
  wire.once(ssl ? 'sslconnect' : 'connect', send);
  wire.on('error', () => wire.stream.destroy());
  // The server closes the connection after it has forwarded the signal.
  wire.once('end', () => {
    clearTimeout(timer);
    resolve();
  });
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}` as never, undefined as never);
  else wire.connect(port, host);
  return promise;
}

/**
 * Cancels the running statement of this connection when the signal aborts, until the returned function is called. If the statement does not
 * end, its connection is closed. The connection must not be used again after the signal, because a late cancellation would hit the next
 * statement.
 */
export function cancelOnAbort(client: pg.PoolClient, signal: AbortSignal): () => void {
  let attempts = 0;
  let timer: NodeJS.Timeout | undefined;
  function cancel(): void {
    attempts += 1;
    if (attempts > ATTEMPTS) (client as RunningClient).connection.stream.destroy();
    else {
      void requestCancel(client);
      timer = setTimeout(cancel, AGAIN_AFTER_MS);
    }
  }
  signal.addEventListener('abort', cancel, { once: true });
  return () => {
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
  };
}
