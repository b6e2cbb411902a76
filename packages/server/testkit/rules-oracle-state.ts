import { ORACLE_RULES, type OracleRule, type OracleStep, type OracleTrigger } from './rules-oracle-rules.ts';

/** All that the oracle knows of one project. */
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
export type OracleRecord = { who: string; priority: 'live' | 'bulk' } & (
  | { user: OracleUser }
  | { event: OracleEvent }
);

/** `events`: all that was digested, in any order. */
export type OraclePerson = {
  id: string;
  email: string | null;
  traits: Record<string, unknown>;
  events: OracleEvent[];
};

export type OracleRun = {
  who: string;
  rule: OracleRule;
  key: string;
  anchor: OracleEvent;
  enrolledAt: number;
  endsAt: number | null;
  /** The steps that are not done yet; the first is the one at which it stands. */
  rest: OracleStep[];
  waits: 'time' | 'event' | 'draft' | null;
  nextAt: number | null;
  isFrozen: boolean;
  end: string | null;
  convertedAt: number | null;
};

export type OracleTimer = {
  who: string;
  rule: OracleRule;
  trigger: OracleTrigger;
  anchor: OracleEvent;
  at: number;
};

export type OracleDraft = {
  run: OracleRun;
  /** How many of its run came before it. */
  ordinal: number;
  state: 'scheduled' | 'approved' | 'held' | 'sending';
  /** As what a held one goes on. */
  resume: 'scheduled' | 'approved';
  /** Why it is held. */
  held: string | null;
  /** What became of it, with the reason of a cancellation. */
  end: string | null;
  deadline: number | null;
  notBefore: number | null;
  due: number | null;
  expires: number | null;
  /** What it says of the person. */
  facts: Record<string, unknown>;
  isEdited: boolean;
  /** Whoever approved it last said that it is to leave though its rule holds no more. */
  isAnyway: boolean;
};

type LedgerRow = { count: number; first: number; last: number };

export type Oracle = {
  now: number;
  isPaused: boolean;
  /** Since when each rule is on; null: it is off. */
  enabledAt: Map<OracleRule, number | null>;
  people: Map<string, OraclePerson>;
  inbox: OracleRecord[];
  timers: OracleTimer[];
  runs: OracleRun[];
  drafts: OracleDraft[];
  entries: Map<string, { at: number; level: number }>;
  suppressions: { kind: 'user' | 'email'; value: string; until: number | null }[];
  /** Every letter that was claimed. */
  claims: { draft: OracleDraft; address: string; at: number; counts: boolean; isFailed: boolean }[];
  /** By person, rule, key and reason. */
  ledger: Map<string, LedgerRow>;
  /** The id that a draft has in the product: by it letters are spread, and what falls together is put in order. */
  idOf(draft: OracleDraft): string;
};

export function newOracle(now: number, idOf: Oracle['idOf']): Oracle {
  return {
    now,
    isPaused: false,
    enabledAt: new Map(ORACLE_RULES.map((rule) => [rule, now])),
    people: new Map(),
    inbox: [],
    timers: [],
    runs: [],
    drafts: [],
    entries: new Map(),
    suppressions: [],
    claims: [],
    ledger: new Map(),
    idOf,
  };
}

type Noted = { who: string; rule: OracleRule; key: string; reason: string };

export function note({ ledger, now }: Oracle, { who, rule, key, reason }: Noted): void {
  const place = JSON.stringify([who, rule.name, key, reason]);
  const row = ledger.get(place) ?? { count: 0, first: now, last: now };
  ledger.set(place, { count: row.count + 1, first: row.first, last: now });
}
