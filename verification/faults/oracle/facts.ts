import type { ActionEntry, FaultEntry, LoadEntry, ReportEntry, SinkEntry, World } from '../journal.ts';

/** The input of the oracle: the journals, and the database contents at the settled point. */
export type Facts = {
  world: World;
  /** When everything had settled. Null: the run does not record it. */
  quietAt: number | null;
  requests: Request[];
  actions: ActionEntry[];
  receivedEmails: ReceivedEmail[];
  hooks: Hook[];
  /** What providers reported about emails, and the ids of the reports that were acknowledged. */
  reports: Report[];
  acknowledged: Set<string>;
  faults: FaultEntry[];
  rows: Rows;
};

/** Attempts of one request, oldest first. They share its Idempotency-Key and its body. */
export type Request = Pick<
  Begin,
  'request' | 'project' | 'path' | 'idempotencyKey' | 'body' | 'records' | 'intent'
> & {
  attempts: Attempt[];
};
export type Attempt = Pick<Begin, 'id' | 'at' | 'key' | 'to'> & {
  intent: Begin['intent'];
  answer: Answer | null;
};
export type Answer = { at: number; status: number; body: string; replayed: boolean };
type Begin = Extract<LoadEntry, { kind: 'begin' }>;

export type ReceivedEmail = Extract<SinkEntry, { kind: 'email' }>;
export type Hook = Extract<SinkEntry, { kind: 'hook' }>;
export type Report = Extract<ReportEntry, { kind: 'report' }>;

/** Times are milliseconds, and projects are their ids as text. */
export type Rows = {
  idempotencyKeys: IdempotencyRow[];
  events: EventRow[];
  people: PersonRow[];
  queues: QueueRow[];
  keys: KeyRow[];
  drafts: DraftRow[];
  moves: MoveRow[];
  emails: EmailRow[];
  suppressions: SuppressionRow[];
  endpoints: EndpointRow[];
  outcomes: OutcomeRow[];
  webhooks: WebhookRow[];
  deliveries: DeliveryRow[];
  attempts: AttemptRow[];
  audits: AuditRow[];
  /** Each promise that the database alone shows to be broken, with the rows that break it. */
  violations: ViolatingRow[];
};

/** A used Idempotency-Key, in hex as stored, with its response. */
export type IdempotencyRow = {
  project: string;
  key: string;
  status: number;
  body: string | null;
  acceptedAt: number;
};
/** `identity`: see `identityOf`. Null for an event of our own. */
export type EventRow = {
  project: string;
  user: string;
  name: string;
  identity: string | null;
  seq: number;
  acceptedAt: number;
  suppressed: boolean | null;
};
export type PersonRow = {
  project: string;
  user: string;
  traits: Record<string, unknown>;
  email: string | null;
  suppressedSeq: number | null;
  normalSeq: number | null;
};
export type QueueRow = { project: string; nextSeq: number; waiting: number };
export type KeyRow = { project: string; id: string; revokedAt: number | null };
export type DraftRow = {
  project: string;
  id: string;
  user: string;
  state: string;
  resumeState: string | null;
  reason: string | null;
  deadlineAt: number | null;
  notBefore: number | null;
  dueAt: number | null;
  moves: number;
};
export type MoveRow = {
  project: string;
  draft: string;
  number: number;
  at: number;
  action: string;
  from: string | null;
  to: string;
  actor: string;
};
export type EmailRow = {
  project: string;
  draft: string;
  id: string;
  user: string;
  address: string;
  state: string;
  reason: string | null;
  epoch: number;
  attempts: number;
  firstAt: number | null;
};
export type SuppressionRow = {
  project: string;
  kind: string;
  value: string;
  until: number | null;
  createdAt: number;
};
export type EndpointRow = {
  project: string;
  id: string;
  url: string;
  types: string[] | null;
  createdAt: number;
  disabledAt: number | null;
  disabledReason: string | null;
};
export type OutcomeRow = {
  project: string;
  id: string;
  email: string;
  type: string;
  class: string;
  recordedAt: number;
};
export type WebhookRow = {
  project: string;
  id: string;
  outcome: string | null;
  type: string;
  body: string;
  createdAt: number;
};
export type DeliveryRow = {
  project: string;
  webhook: string;
  endpoint: string;
  state: string;
  tries: number;
  attempts: number;
  nextAt: number | null;
};
export type AttemptRow = {
  project: string;
  webhook: string;
  endpoint: string;
  number: number;
  startedAt: number;
  endedAt: number | null;
  status: number | null;
};
export type AuditRow = {
  project: string;
  at: number;
  action: string;
  subject: string | null;
  isCompleted: boolean;
};
export type ViolatingRow = { invariant: string; problem: string; row: string };

export const NO_ROWS: Rows = {
  idempotencyKeys: [],
  events: [],
  people: [],
  queues: [],
  keys: [],
  drafts: [],
  moves: [],
  emails: [],
  suppressions: [],
  endpoints: [],
  outcomes: [],
  webhooks: [],
  deliveries: [],
  attempts: [],
  audits: [],
  violations: [],
};
