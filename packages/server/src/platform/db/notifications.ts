import pg from 'pg';
import type { Socket } from 'node:net';
import { backoffMs } from '../async/backoff.ts';
import { type ConnectionSource, PEER } from './connections.ts';
import type { Tx } from './statements.ts';
import type { Log } from '../log.ts';
import { atMost } from '../time/within.ts';

/** Notifies a channel, at most once per interval regardless of the number of calls. A lost notification does no harm. */
type Notifier = { notify(): void; stop(): Promise<void> };

type NotifierOptions = { db: Tx; channel: string; everyMs: number; log: Log };

export function createNotifier({ db, channel, everyMs, log }: NotifierOptions): Notifier {
  let timer: NodeJS.Timeout | null = null;
  let isPending = false;
  let stopped = false;
  let sending: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    try {
      await db.query(`SELECT pg_notify($1, '')`, [channel]);
    } catch (error) {
      log.debug({ err: error }, 'database.notify_failed');
    }
  }

  function notify(): void {
    if (stopped) return;
    if (timer !== null) {
      isPending = true;
      return;
    }
    isPending = false;
    sending = send();
    timer = setTimeout(() => {
      timer = null;
      if (isPending) notify();
    }, everyMs);
    timer.unref();
  }

  return {
    notify,
    async stop() {
      stopped = true;
      clearTimeout(timer ?? undefined);
      await sending;
    },
  };
}

/**
 * Receives notifications of other processes on a channel. They are only hints: one may be lost while the connection is reopened, so
 * correctness never depends on them.
 */
type Listener = { stop(): Promise<void> };

type ListenerOptions = {
  /** A separate connection, not one behind a pooler in transaction mode. */
  connection: ConnectionSource;
  channel: string;
  onNotification: () => void;
  log: Log;
};

const LISTEN_WITHIN_MS = 10_000;
/** A server that vanished does not confirm the end of the connection. */
const GOODBYE_MS = 1_000;
const REOPEN = { baseMs: 200, maxMs: 30_000 };

export function startListener({ connection, channel, onNotification, log }: ListenerOptions): Listener {
  let stopping = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;

  async function open(): Promise<void> {
    const opened = new pg.Client({
      ...connection(),
      ...PEER,
      application_name: 'beckon listener',
      query_timeout: LISTEN_WITHIN_MS,
    });
    client = opened;
    opened.on('error', () => {});
    opened.on('end', () => again(opened));
    opened.on('notification', onNotification);
    try {
      await opened.connect();
      await opened.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      failures = 0;
    } catch (error) {
      log.debug({ err: error }, 'database.listen_failed');
      await end(opened);
      again(opened);
    }
  }

  function again(of: pg.Client): void {
    if (stopping || client !== of) return;
    client = null;
    failures += 1;
    timer = setTimeout(() => void open(), backoffMs(failures, REOPEN));
    timer.unref();
  }

  void open();
  return {
    async stop() {
      stopping = true;
      clearTimeout(timer);
      if (client) await end(client);
    },
  };
}

async function end(client: pg.Client): Promise<void> {
  await atMost(
    client.end().catch(() => {}),
    GOODBYE_MS,
  );
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}
