import type { CellType } from '../files/index.ts';
import type { Many, One, PageQuery, Raw } from './envelope.ts';

export type ImportKind = 'users' | 'events' | 'stripe';

/**
 * `uploading → ready → checking → checked → running ⇄ paused → done | failed | canceled`. A check that is stopped, or cannot go
 * on, leads back to `ready`; whatever has not ended can be canceled.
 */
export type ImportState =
  | 'uploading'
  | 'ready'
  | 'checking'
  | 'checked'
  | 'running'
  | 'paused'
  | 'done'
  | 'failed'
  | 'canceled';

export type ImportFormat = 'csv' | 'jsonl';

export type ImportType = CellType;

/**
 * Column → where it goes: `external_user_id`, `email`, `name`, `occurred_at`, `message_id`, `traits.<key>`, `properties.<key>`, or
 * null: it is left out. Columns that are not named here go by their header.
 */
export type ImportMapping = {
  columns: { [column: string]: { to: string | null; type?: ImportType } };
  /** Events without a time or a message_id: rows that are equal are one event. */
  equal_rows_are_one?: boolean;
  /** The event's name, where the file has no column of it. */
  event_name?: string;
};

/** What is to be done with Stripe's customers of whom nobody here is known. */
export type StripeChoices = {
  /** The ones that nobody is found for become people under their `cus_…` id. */
  unmatched_as_customers: boolean;
};

/** Counts that have a bound: `at_least` is true where there are more. */
export type PeopleCounted = { count: number; at_least?: true };

export type ImportCheck = {
  checked_at: string;
  rows: number;
  users: number;
  events: number;
  rejected: number;
  /** The most frequent first. */
  rejected_by: { field: string | null; message: string; rows: number }[];
  /** People that the records are about: those of whom nothing was known before, and the others. */
  affected_users: { new: PeopleCounted; known: PeopleCounted };
  /** By name, the most frequent first; at most 100. */
  names: {
    name: string;
    events: number;
    is_canonical: boolean;
    first_at: string | null;
    last_at: string | null;
  }[];
  /**
   * Enabled rules that begin with an event which occurs here, how many people have that event, and of how many it is young enough
   * that the rule would still fire. So many would have been looked at if these events had been told as they happened; their
   * conditions, gates and caps are not asked. Suppressed, it is nobody.
   */
  rules: { rule: string; name: string; event: string; users: PeopleCounted; recent: PeopleCounted }[];
  /** How many letters the import sends, unless events are told as live. */
  emails: 0;
  /** Facts of the source by their name, for example `unmatched_customers` or `trials_without_reminder`. */
  facts: { [name: string]: number };
};

export type ImportProgress = {
  rows: number;
  /** As the check counted them; null where nothing was checked. */
  rows_total: number | null;
  bytes: number;
  users: { accepted: number; new: number; changed: number; same: number };
  events: { accepted: number; new: number; known: number };
  rejected: number;
  /** Records of people who were erased meanwhile: left out. */
  erased: number;
  started_at: string | null;
  /** Over the last minute; null while nothing moves. */
  rows_per_s: number | null;
  seconds_left: number | null;
  /** Why it stands still for now. */
  waits_for: 'queue' | 'another_import' | 'worker' | null;
};

export type Import = {
  id: string;
  kind: ImportKind;
  /** The name of the file, or `Stripe`. */
  name: string;
  state: ImportState;
  /** Why it paused, failed, or could not be checked, in words for people. */
  problem: string | null;
  size_bytes: number | null;
  /** Milliseconds since the epoch, as the browser said: it tells whether the same file is chosen again. */
  file_modified_at: number | null;
  part_bytes: number;
  parts_total: number;
  mapping: ImportMapping | null;
  stripe: StripeChoices | null;
  /** What the source said of itself, by name, for example `unmatched_customers`. */
  facts: { [name: string]: number };
  /** Events are told as if they happened now: rules fire. Chosen at the start, by typing the check's count of events. */
  is_live: boolean;
  check: ImportCheck | null;
  progress: ImportProgress;
  created_at: string;
  created_by: string | null;
  ended_at: string | null;
};

export type ImportFinding = {
  /** `rejected`, or a word of the source's own, for example `unmatched_customer`. */
  kind: string;
  row: number | null;
  field: string | null;
  message: string;
  raw: string;
};

/** The first rows as they would be taken. */
export type ImportSample = {
  format: ImportFormat;
  delimiter: string | null;
  columns: { name: string; to: string | null; type: ImportType; values: string[] }[];
  rows: { row: number; record: unknown; faults: { field: string | null; message: string }[] }[];
  /** What is wrong with the mapping as a whole. */
  problems: { field: string; message: string }[];
};

export type ImportsApi = {
  'GET /projects/:project/imports': { query: PageQuery; answer: Many<Import> };
  'POST /projects/:project/imports': {
    body:
      | { kind: 'users' | 'events'; name: string; size_bytes: number; file_modified_at?: number }
      | { kind: 'stripe'; key: string; unmatched_as_customers?: boolean };
    answer: One<Import>;
  };
  'GET /projects/:project/imports/:import': { answer: One<Import> };
  /** Which parts are here, counted from 0. */
  'GET /projects/:project/imports/:import/parts': { answer: One<{ parts: number[] }> };
  /** `application/octet-stream`: `part_bytes` of the file from `part × part_bytes` on, the rest in the last. */
  'PUT /projects/:project/imports/:import/parts/:part': { answer: One<Import> };
  /** Changes nothing: the first rows under a mapping that is not saved yet. */
  'POST /projects/:project/imports/:import/sample': {
    body: { mapping?: ImportMapping };
    answer: One<ImportSample>;
  };
  'PUT /projects/:project/imports/:import/mapping': {
    body: { mapping: ImportMapping };
    answer: One<Import>;
  };
  'POST /projects/:project/imports/:import/check': { answer: One<Import> };
  /** `live_events`: the check's count of events, typed, where they are to be told as live. */
  'POST /projects/:project/imports/:import/start': {
    body: { live_events?: number };
    answer: One<Import>;
  };
  'POST /projects/:project/imports/:import/pause': { answer: One<Import> };
  'POST /projects/:project/imports/:import/resume': { answer: One<Import> };
  'POST /projects/:project/imports/:import/cancel': { answer: One<Import> };
  /** A new key for one that Stripe refused. */
  'POST /projects/:project/imports/:import/key': { body: { key: string }; answer: One<Import> };
  'GET /projects/:project/imports/:import/findings': {
    query: PageQuery & { kind?: string };
    answer: Many<ImportFinding>;
  };
  /** All that was rejected, as a CSV file. */
  'GET /projects/:project/imports/:import/rejected.csv': { answer: Raw };
};
