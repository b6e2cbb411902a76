import type { Clock } from '../../../platform/time/clock.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import { writeBehind } from '../../../platform/async/write-behind.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { addRequests, type RequestRow } from './store.ts';

export type NotedRequest = {
  projectId: number;
  endpoint: string;
  status: number;
  code: string | null;
  /** The number of records. */
  accepted: number;
  rejected: number;
  requestId: string;
  keyId: string | null;
  /** The size of the body. */
  bytes: number;
  ms: number;
  /** How far the clock of the project is ahead of the system clock; 0 if left out. */
  aheadMs?: number;
  /** The errors in its records. */
  faults?: readonly NotedFault[];
};

/** `index` is set for bulk requests. Elsewhere the field identifies the record. */
type NotedFault = { index?: number; field?: string; message: string };

/**
 * Logs the responses to a project's requests for display. Requests within a quarter second with the same key and the same response are one
 * row. Noting a request costs a lookup and three additions. A crash may lose the last quarter second.
 */
export type RequestLog = {
  note(request: NotedRequest): void;
  flush(): Promise<void>;
  close(): Promise<void>;
};

const REQUESTS_EVERY_MS = 250;
/** The maximum number of distinct responses in a quarter second, across all projects. */
const REQUESTS_MAX = 10_000;
/** Without this limit, an unavailable database would be reported four times a second. */
const REPORT_EVERY_MS = 10_000;

type PendingRequest = Omit<RequestRow, 'at' | 'id'> & { aheadMs?: number };
type RequestLogDeps = { db: Tx; clock: Clock; newId: NewId; log: Log };

export function requestLog({ db, clock, newId, log }: RequestLogDeps): RequestLog {
  const requests = writeBehind<PendingRequest>({
    everyMs: REQUESTS_EVERY_MS,
    entriesMax: REQUESTS_MAX,
    log: throttledLog(log, clock),
    failedEvent: 'request_log.not_written',
    write(rows) {
      // Dates rows when they are written. Otherwise followers would miss rows that waited for the database.
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
      const pending = requests.pending(key);
      if (!pending) requests.add(key, firstOf(request));
      else {
        pending.requests += 1;
        pending.accepted += request.accepted;
        pending.rejected += request.rejected;
        pending.requestId = request.requestId;
        pending.faults = faultsOf(request);
        pending.bytes += request.bytes;
        pending.slowestMs = Math.max(pending.slowestMs, request.ms);
      }
    },
    flush: () => requests.flush(),
    close: () => requests.close(),
  };
}

function firstOf({ ms, ...request }: NotedRequest): PendingRequest {
  return { ...request, faults: faultsOf(request), requests: 1, slowestMs: ms };
}

/** Enough to show what a client does wrong. The response itself contained all errors. */
const FAULTS_MAX = 10;
const WORDS_MAX_CHARS = 300;

/** Returns the errors of the last request, as with its id. A field's path may contain characters that the database does not accept. */
function faultsOf({ faults = [] }: Pick<NotedRequest, 'faults'>): PendingRequest['faults'] {
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

function add(older: PendingRequest, newer: PendingRequest): PendingRequest {
  return {
    ...newer,
    requests: older.requests + newer.requests,
    accepted: older.accepted + newer.accepted,
    rejected: older.rejected + newer.rejected,
    bytes: older.bytes + newer.bytes,
    slowestMs: Math.max(older.slowestMs, newer.slowestMs),
  };
}

function throttledLog(log: Log, clock: Clock): Log {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    ...log,
    warn(fields, event) {
      if (clock.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = clock.now();
      log.warn(fields, event);
    },
  };
}
