import Type, { type Static } from 'typebox';
import { CELL_TYPES, type CellType } from '../files/values.ts';
import { FILTER, PAGE, item, list, oneOf, raw } from './envelope.ts';
import type { IMPORT_KINDS, IMPORT_STATES } from './lists.ts';

export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * `uploading → ready → checking → checked → running ⇄ paused → done | failed | canceled`. A check that is stopped or cannot
 * continue returns to `ready`. An import that has not ended can be canceled.
 */
export type ImportState = (typeof IMPORT_STATES)[number];

export type ImportFormat = 'csv' | 'jsonl';

export type ImportType = CellType;

const MappingSchema = Type.Object(
  {
    columns: Type.Record(
      Type.String({ maxLength: 300 }),
      Type.Object(
        {
          to: Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Null()]),
          type: Type.Optional(oneOf(CELL_TYPES)),
        },
        { additionalProperties: false },
      ),
      { maxProperties: 500 },
    ),
    /** For events without a time or a `message_id`: equal rows count as one event. */
    equal_rows_are_one: Type.Optional(Type.Boolean()),
    /** The event name, if the file has no column for it. */
    event_name: Type.Optional(Type.String({ maxLength: 255 })),
  },
  { additionalProperties: false },
);
/**
 * Maps each column to a field: `external_user_id`, `email`, `name`, `occurred_at`, `message_id`, `traits.<key>` or
 * `properties.<key>`; null: the column is not imported. A column that is not listed is mapped by its header.
 */
export type ImportMapping = Static<typeof MappingSchema>;

/** How to import Stripe customers that match no user. */
export type StripeChoices = {
  /** True if an unmatched customer becomes a user with its `cus_…` ID. */
  unmatched_as_customers: boolean;
};

/** A count up to a limit; `at_least`: there are more. */
export type PeopleCounted = { count: number; at_least?: true };

export type ImportCheck = {
  checked_at: string;
  rows: number;
  users: number;
  events: number;
  rejected: number;
  /** Rejected rows by reason, most frequent first. */
  rejected_by: { field: string | null; message: string; rows: number }[];
  /** The users of the records: `new` ones, and those already `known`. */
  affected_users: { new: PeopleCounted; known: PeopleCounted };
  /** Events by name, most frequent first; at most 100. */
  names: {
    name: string;
    events: number;
    is_canonical: boolean;
    first_at: string | null;
    last_at: string | null;
  }[];
  /**
   * Enabled rules that start with an event of the import. `users`: users with that event. `recent`: users whose event is new
   * enough for the rule to fire. These are upper bounds for an import of live events: conditions, send checks and caps are not
   * applied. With suppressed triggers, no rule fires.
   */
  rules: { rule: string; name: string; event: string; users: PeopleCounted; recent: PeopleCounted }[];
  /** The number of emails that the import sends, unless its events are imported as live events. */
  emails: 0;
  /** Figures of the source by name, such as `unmatched_customers` or `trials_without_reminder`. */
  facts: { [name: string]: number };
};

export type ImportProgress = {
  rows: number;
  /** The number of rows that the check counted; null: not checked yet, or the check is running. */
  rows_total: number | null;
  bytes: number;
  users: { accepted: number; new: number; changed: number; same: number };
  events: { accepted: number; new: number; known: number };
  rejected: number;
  /** Records that were dropped because their user was erased during the import. */
  erased: number;
  started_at: string | null;
  /** Rows per second over the last minute; null: no rows are being processed. */
  rows_per_s: number | null;
  seconds_left: number | null;
  /** The resource that the import waits for; null: it does not wait. */
  waits_for: 'queue' | 'another_import' | 'worker' | null;
};

export type Import = {
  id: string;
  kind: ImportKind;
  /** The name of the file, or `Stripe`. */
  name: string;
  state: ImportState;
  /** A sentence that says why the import paused, failed or could not be checked. */
  problem: string | null;
  size_bytes: number | null;
  /** Milliseconds since the epoch, as reported by the browser. Used to recognize the same file when an upload continues. */
  file_modified_at: number | null;
  part_bytes: number;
  parts_total: number;
  mapping: ImportMapping | null;
  stripe: StripeChoices | null;
  /** Figures of the source by name, such as `unmatched_customers`. */
  facts: { [name: string]: number };
  /** True if events are imported as live events, so that rules fire. Confirmed at the start by typing the checked event count. */
  is_live: boolean;
  check: ImportCheck | null;
  progress: ImportProgress;
  created_at: string;
  created_by: string | null;
  ended_at: string | null;
};

export type ImportFinding = {
  /** `rejected`, or a kind of the source, such as `unmatched_customer`. */
  kind: string;
  row: number | null;
  field: string | null;
  message: string;
  raw: string;
};

/** The first rows as they would be imported. */
export type ImportSample = {
  format: ImportFormat;
  delimiter: string | null;
  columns: { name: string; to: string | null; type: ImportType; values: string[] }[];
  rows: { row: number; record: unknown; faults: { field: string | null; message: string }[] }[];
  /** Errors of the mapping as a whole. */
  problems: { field: string; message: string }[];
};

type NewImport =
  | { kind: 'users' | 'events'; name: string; size_bytes: number; file_modified_at?: number }
  | { kind: 'stripe'; key: string; unmatched_as_customers?: boolean };

/** The last millisecond of a JavaScript date. */
const MOMENT_MAX = 8_640_000_000_000_000;

/** One object for all kinds of import, so that an error names the field. A union would only say that no kind matches. */
const NewImportSchema = Type.Unsafe<NewImport>(
  Type.Object(
    {
      kind: oneOf(['users', 'events', 'stripe']),
      name: Type.Optional(Type.String({ maxLength: 1_000 })),
      size_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
      file_modified_at: Type.Optional(Type.Integer({ minimum: 0, maximum: MOMENT_MAX })),
      key: Type.Optional(Type.String({ maxLength: 300 })),
      unmatched_as_customers: Type.Optional(Type.Boolean()),
    },
    {
      if: { type: 'object', properties: { kind: { const: 'stripe' } } },
      then: { required: ['kind', 'key'] },
      else: { required: ['kind', 'name', 'size_bytes'] },
    },
  ),
);

export const IMPORTS_API = {
  'GET /projects/:project/imports': {
    query: Type.Object({ ...PAGE, filter: FILTER }),
    response: list<Import>(),
  },
  'GET /projects/:project/imports.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  'POST /projects/:project/imports': {
    body: NewImportSchema,
    response: item<Import>(),
  },
  'GET /projects/:project/imports/:import': { response: item<Import>() },
  /** The numbers of the uploaded parts, from 0. */
  'GET /projects/:project/imports/:import/parts': { response: item<{ parts: number[] }>() },
  /** `application/octet-stream`: `part_bytes` of the file, starting at `part × part_bytes`. The last part has the rest. */
  'PUT /projects/:project/imports/:import/parts/:part': { response: item<Import>() },
  /** Returns the first rows with an unsaved mapping, and changes nothing. */
  'POST /projects/:project/imports/:import/sample': {
    body: Type.Object({ mapping: Type.Optional(MappingSchema) }),
    response: item<ImportSample>(),
  },
  'PUT /projects/:project/imports/:import/mapping': {
    body: Type.Object({ mapping: MappingSchema }),
    response: item<Import>(),
  },
  'POST /projects/:project/imports/:import/check': { response: item<Import>() },
  /** `live_events`: imports the events as live events. Must equal the event count of the check. */
  'POST /projects/:project/imports/:import/start': {
    body: Type.Object({ live_events: Type.Optional(Type.Integer({ minimum: 0 })) }),
    response: item<Import>(),
  },
  'POST /projects/:project/imports/:import/pause': { response: item<Import>() },
  'POST /projects/:project/imports/:import/resume': { response: item<Import>() },
  'POST /projects/:project/imports/:import/cancel': { response: item<Import>() },
  /** Replaces a key that Stripe rejected. */
  'POST /projects/:project/imports/:import/key': {
    body: Type.Object({ key: Type.String({ maxLength: 300 }) }),
    response: item<Import>(),
  },
  'GET /projects/:project/imports/:import/findings': {
    query: Type.Object({ ...PAGE, kind: Type.Optional(Type.String({ maxLength: 100 })) }),
    response: list<ImportFinding>(),
  },
  /** All rejected rows as a CSV file. */
  'GET /projects/:project/imports/:import/rejected.csv': { response: raw() },
};
