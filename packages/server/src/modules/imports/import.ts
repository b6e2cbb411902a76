import type { ImportCheck, ImportKind, ImportMapping, ImportState } from '@beckon/contract/dashboard';
import type { SourcePosition } from './source.ts';

/** An import of data from elsewhere, with its progress. */
export type Import = {
  projectId: number;
  id: string;
  kind: ImportKind;
  /** The name of the file, or `Stripe`. */
  name: string;
  state: ImportState;
  /** Why the import is paused or failed, for people. */
  problem: string | null;
  sizeBytes: number | null;
  fileModifiedAt: number | null;
  mapping: ImportMapping | null;
  options: { unmatchedAsCustomers: boolean } | null;
  isLive: boolean;
  check: ImportCheck | null;
  position: SourcePosition | null;
  counts: ImportCounts;
  facts: { [name: string]: number };
  /** The number of stored findings. */
  findings: number;
  /** Recent rows per second. */
  pace: number | null;
  waitsFor: 'queue' | null;
  epoch: number;
  leaseUntil: number | null;
  queuedAt: number | null;
  createdAt: number;
  createdBy: string;
  changedAt: number;
  startedAt: number | null;
  endedAt: number | null;
};

export type ImportCounts = {
  rows: number;
  bytes: number;
  users: number;
  usersNew: number;
  usersChanged: number;
  usersSame: number;
  events: number;
  eventsNew: number;
  eventsKnown: number;
  rejected: number;
  erased: number;
};

export const NOTHING_COUNTED: ImportCounts = {
  rows: 0,
  bytes: 0,
  users: 0,
  usersNew: 0,
  usersChanged: 0,
  usersSame: 0,
  events: 0,
  eventsNew: 0,
  eventsKnown: 0,
  rejected: 0,
  erased: 0,
};

/**
 * All moves. `give_up` is made by the worker if the source cannot continue. An `unreadable` file fails for good, because waiting does not
 * change a file.
 */
const MOVES = {
  upload: { uploading: 'uploading' },
  complete: { uploading: 'ready' },
  map: { ready: 'ready', checked: 'ready' },
  check: { ready: 'checking', checked: 'checking' },
  conclude: { checking: 'checked' },
  start: { checked: 'running' },
  pause: { checking: 'ready', running: 'paused' },
  resume: { paused: 'running' },
  rekey: { ready: 'ready', checked: 'ready', paused: 'paused' },
  finish: { running: 'done' },
  give_up: { checking: 'ready', running: 'paused' },
  fail: { checking: 'failed', running: 'failed' },
  cancel: {
    uploading: 'canceled',
    ready: 'canceled',
    checking: 'canceled',
    checked: 'canceled',
    running: 'canceled',
    paused: 'canceled',
  },
} as const satisfies Record<string, Partial<Record<ImportState, ImportState>>>;

export type ImportAction = keyof typeof MOVES;

/** Returns the state after a move, or null if the move is not allowed. */
export function movedTo(state: ImportState, move: ImportAction): ImportState | null {
  const table: Partial<Record<ImportState, ImportState>> = MOVES[move];
  return table[state] ?? null;
}

export function hasEnded(state: ImportState): boolean {
  return state === 'done' || state === 'failed' || state === 'canceled';
}

/** A file is uploaded in parts of this size. The last one has the rest. */
export const PART_BYTES = 4 * 1024 * 1024;
export const FILE_MAX_BYTES = 2 * 1024 * 1024 * 1024;
/** The limit per import. Further rejected rows are only counted. */
export const FINDINGS_MAX = 100_000;
/** A finding stores only this much of the start of its row. */
export const RAW_MAX_CHARS = 500;
/** The limit per project of imports that have not ended. */
export const OPEN_IMPORTS_MAX = 20;
export const NAME_MAX_CHARS = 200;

export function partsOf(sizeBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / PART_BYTES));
}

/** Returns the size in bytes that a part must have. */
export function partSize(sizeBytes: number, part: number): number {
  return Math.min(PART_BYTES, sizeBytes - part * PART_BYTES);
}

/** A row of `import` without its key. */
export type ImportRow = {
  project_id: number;
  id: string;
  kind: ImportKind;
  name: string;
  state: ImportState;
  problem: string | null;
  size_bytes: number | null;
  file_modified_at: number | null;
  mapping: ImportMapping | null;
  options: { unmatchedAsCustomers: boolean } | null;
  is_live: boolean;
  check_report: ImportCheck | null;
  position: SourcePosition | null;
  counts: ImportCounts;
  facts: { [name: string]: number };
  findings: number;
  pace: number | null;
  waits_for: 'queue' | null;
  epoch: number;
  lease_until: Date | null;
  queued_at: Date | null;
  created_at: Date;
  created_by: string;
  changed_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
};

export const COLUMNS = `project_id, id, kind, name, state, problem, size_bytes, file_modified_at, mapping, options, is_live,
  check_report, position, counts, facts, findings, pace, waits_for, epoch, lease_until, queued_at, created_at, created_by,
  changed_at, started_at, ended_at`;

export function toImport(row: ImportRow): Import {
  return {
    projectId: row.project_id,
    id: row.id,
    kind: row.kind,
    name: row.name,
    state: row.state,
    problem: row.problem,
    sizeBytes: row.size_bytes,
    fileModifiedAt: row.file_modified_at,
    mapping: row.mapping,
    options: row.options,
    isLive: row.is_live,
    check: row.check_report,
    position: row.position,
    counts: row.counts,
    facts: row.facts,
    findings: row.findings,
    pace: row.pace,
    waitsFor: row.waits_for,
    epoch: row.epoch,
    leaseUntil: row.lease_until?.getTime() ?? null,
    queuedAt: row.queued_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by,
    changedAt: row.changed_at.getTime(),
    startedAt: row.started_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
  };
}
