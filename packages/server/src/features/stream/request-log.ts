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
  /** How far the clock of the project is ahead of ours; left out, not at all. */
  aheadMs?: number;
  /** What was wrong with which of its records. */
  faults?: readonly NotedFault[];
};

/** `index`: of a bulk request; elsewhere the field says which record it is. */
type NotedFault = { index?: number; field?: string; message: string };

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

type Gathered = Omit<RequestRow, 'at' | 'id'> & { aheadMs?: number };
type RequestLogDeps = { db: Tx; clock: Clock; newId: NewId; log: Log };

export function requestLog({ db, clock, newId, log }: RequestLogDeps): RequestLog {
  const requests = writeBehind<Gathered>({
    everyMs: REQUESTS_EVERY_MS,
    entriesMax: REQUESTS_MAX,
    log: rarely(log, clock),
    failedEvent: 'request_log.not_written',
    write(rows) {
      // Dated when they are written: what had to wait for the database would else be missed by those who follow.
      const now = clock.now();
      return addRequests(
        db,
        rows.map(({ aheadMs = 0, ...row }) => ({ ...row, at: new Date(now + aheadMs), id: newId() })),
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
        gathered.faults = faultsOf(request);
        gathered.bytes += request.bytes;
        gathered.slowestMs = Math.max(gathered.slowestMs, request.ms);
      }
    },
    flush: () => requests.flush(),
    close: () => requests.close(),
  };
}

function firstOf({ ms, ...request }: NotedRequest): Gathered {
  return { ...request, faults: faultsOf(request), requests: 1, slowestMs: ms };
}

/** Enough to see what a client does wrong; the answer itself had all of them. */
const FAULTS_MAX = 10;
const WORDS_MAX_CHARS = 300;

/** Of the last request, as its id is. A field's path may have any character in it, and the database takes not all of them. */
function faultsOf({ faults = [] }: Pick<NotedRequest, 'faults'>): Gathered['faults'] {
  if (faults.length === 0) return null;
  return faults.slice(0, FAULTS_MAX).map(({ index = null, field = null, message }) => ({
    index,
    field: field === null ? null : storable(field),
    message: storable(message),
  }));
}

function storable(text: string): string {
  return text.slice(0, WORDS_MAX_CHARS).toWellFormed().replaceAll('\0', '\uFFFD');
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
    warn(fields, event) {
      if (clock.now() - saidAt < COMPLAIN_EVERY_MS) return;
      saidAt = clock.now();
      log.warn(fields, event);
    },
  };
}
