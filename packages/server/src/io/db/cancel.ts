import pg from 'pg';

/** What node-postgres has and its types leave out. */
type Wire = pg.Connection & {
  connect(port: number, host: string): void;
  cancel(processId: number, secretKey: number): void;
};
type Running = pg.PoolClient & {
  host: string;
  port: number;
  ssl: unknown;
  sslNegotiation: string;
  processID: number | null;
  secretKey: number | null;
  connection: Wire;
};

const CONNECT_WITHIN_MS = 5_000;
/** A request to cancel that overtakes its statement has no effect, so it is repeated. */
const AGAIN_AFTER_MS = 200;
const ATTEMPTS = 5;

/**
 * Cancels the statement that this connection runs, by a connection of its own, as the protocol has it. It works through a pooler too,
 * where `pg_cancel_backend` would not know the process. Never rejects: whoever needs to know looks at the statement.
 */
function requestCancel(client: pg.PoolClient): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as Running;
  if (processID === null || secretKey === null) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wire = new pg.Connection({ ssl, sslNegotiation } as never) as Wire;
  const timer = setTimeout(() => wire.stream.destroy(), CONNECT_WITHIN_MS);
  const send = (): void => wire.cancel(processID, secretKey);
  wire.once(ssl ? 'sslconnect' : 'connect', send);
  wire.on('error', () => wire.stream.destroy());
  // The server closes the connection when it has passed the signal on.
  wire.once('end', () => {
    clearTimeout(timer);
    resolve();
  });
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}` as never, undefined as never);
  else wire.connect(port, host);
  return promise;
}

/**
 * Cancels what runs on this connection when the signal is given, until the function that it returns is called. A statement that does not
 * end by that loses its connection. The connection must not be used again after the signal: a late cancellation would hit what runs then.
 */
export function cancelOnAbort(client: pg.PoolClient, signal: AbortSignal): () => void {
  let attempts = 0;
  let timer: NodeJS.Timeout | undefined;
  function cancel(): void {
    attempts += 1;
    if (attempts > ATTEMPTS) (client as Running).connection.stream.destroy();
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
