import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { writeBehind } from '../../base/write-behind.ts';
import type { Tx } from '../../io/db/index.ts';
import { addRequests, type RequestRow } from './store.ts';

export type NotedRequest = {
  projectId: number;
  endpoint: string;
  status: number;
  code: string | null;
  /** Records. */
  accepted: number;
  rejected: number;
  requestId: string;
  keyId: string | null;
  /** Of its body. */
  bytes: number;
  ms: number;
};

/**
 * What was answered to the requests of a project, for people to look at: those of a quarter second that came by one
 * key and were answered alike are one row. Noting one is a look-up and three additions. A crash may lose the last quarter second.
 */
export type RequestLog = {
  note(request: NotedRequest): void;
  flush(): Promise<void>;
  close(): Promise<void>;
};

const REQUESTS_EVERY_MS = 250;
/** Kinds of answers in a quarter second, over all projects. */
const REQUESTS_MAX = 10_000;
/** A database that is away would be reported four times a second. */
const COMPLAIN_EVERY_MS = 10_000;

type Gathered = Omit<RequestRow, 'at' | 'id'>;
type RequestLogDeps = { db: Tx; clock: Clock; newId: NewId; log: Log };

export function requestLog({ db, clock, newId, log }: RequestLogDeps): RequestLog {
  const requests = writeBehind<Gathered>({
    everyMs: REQUESTS_EVERY_MS,
    entriesMax: REQUESTS_MAX,
    log: rarely(log, clock),
    failedFact: 'requests.not_written',
    write(rows) {
      // Dated when they are written: what had to wait for the database would else be missed by those who follow.
      const at = new Date(clock.now());
      return addRequests(
        db,
        rows.map((row) => ({ ...row, at, id: newId() })),
      );
    },
    merge: add,
  });
  return {
    note(request) {
      const { projectId, endpoint, status, code, keyId } = request;
      const key = `${projectId} ${endpoint} ${status} ${code ?? ''} ${keyId ?? ''}`;
      const gathered = requests.pending(key);
      if (!gathered) requests.add(key, firstOf(request));
      else {
        gathered.requests += 1;
        gathered.accepted += request.accepted;
        gathered.rejected += request.rejected;
        gathered.requestId = request.requestId;
        gathered.bytes += request.bytes;
        gathered.slowestMs = Math.max(gathered.slowestMs, request.ms);
      }
    },
    flush: () => requests.flush(),
    close: () => requests.close(),
  };
}

function firstOf({ ms, ...request }: NotedRequest): Gathered {
  return { ...request, requests: 1, slowestMs: ms };
}

function add(older: Gathered, newer: Gathered): Gathered {
  return {
    ...newer,
    requests: older.requests + newer.requests,
    accepted: older.accepted + newer.accepted,
    rejected: older.rejected + newer.rejected,
    bytes: older.bytes + newer.bytes,
    slowestMs: Math.max(older.slowestMs, newer.slowestMs),
  };
}

function rarely(log: Log, clock: Clock): Log {
  let saidAt = Number.NEGATIVE_INFINITY;
  return {
    ...log,
    warn(fields, fact) {
      if (clock.now() - saidAt < COMPLAIN_EVERY_MS) return;
      saidAt = clock.now();
      log.warn(fields, fact);
    },
  };
}
