import { ORACLE_RULES, type OracleRule, type OracleStep, type OracleTrigger } from './rules.ts';

/** The whole state of the oracle for one project. */
export type OracleEvent = {
  id: string;
  name: string;
  properties: Record<string, unknown>;
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  suppressed: boolean;
};

export type OracleUser = { email?: string; traits?: Record<string, unknown> };
export type OracleRecord = { userId: string; priority: 'live' | 'bulk' } & (
  | { user: OracleUser }
  | { event: OracleEvent }
);

/** `events`: all processed events, in any order. */
export type OraclePerson = {
  id: string;
  email: string | null;
  traits: Record<string, unknown>;
  events: OracleEvent[];
};

export type OracleRun = {
  userId: string;
  rule: OracleRule;
  key: string;
  anchor: OracleEvent;
  enrolledAt: number;
  endsAt: number | null;
  /** The remaining steps. The first is the current one. */
  rest: OracleStep[];
  waits: 'time' | 'event' | 'draft' | null;
  nextAt: number | null;
  isFrozen: boolean;
  end: string | null;
  convertedAt: number | null;
};

export type OracleTimer = {
  userId: string;
  rule: OracleRule;
  trigger: OracleTrigger;
  anchor: OracleEvent;
  at: number;
};

export type OracleDraft = {
  run: OracleRun;
  /** The number of earlier drafts of its run. */
  ordinal: number;
  state: 'scheduled' | 'approved' | 'held' | 'sending';
  /** The state to which a held draft returns. */
  resume: 'scheduled' | 'approved';
  /** The reason why it is held. */
  held: string | null;
  /** The end of the draft, with the reason of a cancellation. */
  end: string | null;
  deadline: number | null;
  notBefore: number | null;
  due: number | null;
  expires: number | null;
  /** The user's facts in its content. */
  facts: Record<string, unknown>;
  isEdited: boolean;
  /** Set if the last approval was to send it even if its rule no longer holds. */
  isForced: boolean;
};

type OracleDecisionCount = { count: number; first: number; last: number };

export type Oracle = {
  now: number;
  isPaused: boolean;
  /** Since when each rule is enabled. Null: it is disabled. */
  enabledAt: Map<OracleRule, number | null>;
  people: Map<string, OraclePerson>;
  queue: OracleRecord[];
  timers: OracleTimer[];
  runs: OracleRun[];
  drafts: OracleDraft[];
  entries: Map<string, { at: number; level: number }>;
  suppressions: { kind: 'user' | 'email'; value: string; until: number | null }[];
  /** Every claimed email. */
  claims: { draft: OracleDraft; address: string; at: number; counts: boolean; isFailed: boolean }[];
  /** The decision log by user, rule, key and reason. */
  decisionCounts: Map<string, OracleDecisionCount>;
  /** Returns the id of a draft in the product. It determines how emails are spread, and the order of those due at the same time. */
  idOf(draft: OracleDraft): string;
};

export function newOracle(now: number, idOf: Oracle['idOf']): Oracle {
  return {
    now,
    isPaused: false,
    enabledAt: new Map(ORACLE_RULES.map((rule) => [rule, now])),
    people: new Map(),
    queue: [],
    timers: [],
    runs: [],
    drafts: [],
    entries: new Map(),
    suppressions: [],
    claims: [],
    decisionCounts: new Map(),
    idOf,
  };
}

type OracleDecision = { userId: string; rule: OracleRule; key: string; reason: string };

export function note({ decisionCounts, now }: Oracle, { userId, rule, key, reason }: OracleDecision): void {
  const decisionKey = JSON.stringify([userId, rule.name, key, reason]);
  const row = decisionCounts.get(decisionKey) ?? { count: 0, first: now, last: now };
  decisionCounts.set(decisionKey, { count: row.count + 1, first: row.first, last: now });
}
