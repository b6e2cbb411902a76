import { jitterShare } from '../../src/modules/webhooks/deliveries/schedule.ts';
import { DELAYS_MS } from './webhook-schedule.ts';

/** Models one endpoint and its deliveries in the plainest form of the rules: every result is remembered, and nothing is optimized. */
export type WebhookModel = {
  mode: Mode;
  queue(ids: string[], now: number): void;
  disable(): void;
  enable(): void;
  isDisabled(): boolean;
  /** Returns how many deliveries start again. */
  replay(state: string, now: number): number;
  settle(now: number): void;
  /** Returns when the next delivery may be attempted. */
  nextAt(): number;
  deliveries(): Row[];
};

export type Mode = keyof typeof REPLIES;
/** No connection is reused: a request that fails on a reused one would be repeated at once. */
const CLOSES = { connection: 'close' };
export const REPLIES = {
  '200': { status: 200, headers: CLOSES },
  '500': { status: 500, headers: CLOSES },
  '410': { status: 410, headers: CLOSES },
  reset: 'reset',
  patient: { status: 503, headers: { ...CLOSES, 'retry-after': '99999999' } },
} as const;

type Row = {
  webhookId: string;
  state: string;
  isReplayed: boolean;
  tries: number;
  nextAt: number | null;
  attempts: { at: number; result: number | string }[];
};
type State = {
  rows: Row[];
  results: { at: number; ok: boolean }[];
  openUntil: number | null;
  failingSince: number | null;
  failures: number;
  disabled: boolean;
};

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export function newModel(endpointId: string): WebhookModel {
  const state: State = {
    rows: [],
    results: [],
    openUntil: null,
    failingSince: null,
    failures: 0,
    disabled: false,
  };
  const model: WebhookModel = {
    mode: '200',
    queue(ids, now) {
      const begun = state.disabled ? { state: 'missed', nextAt: null } : { state: 'pending', nextAt: now };
      for (const webhookId of ids)
        state.rows.push({ webhookId, ...begun, isReplayed: false, tries: 0, attempts: [] });
    },
    disable() {
      state.disabled = true;
      miss(state);
    },
    enable() {
      if (state.disabled)
        Object.assign(state, { openUntil: null, results: [], failingSince: null, failures: 0 });
      state.disabled = false;
    },
    isDisabled: () => state.disabled,
    replay(rowState, now) {
      const rows = state.rows.filter((row) => row.state === rowState);
      for (const row of rows)
        Object.assign(row, { state: 'pending', isReplayed: true, tries: 0, nextAt: now });
      return rows.length;
    },
    settle(now) {
      for (let claimed = claims(state, now); claimed.length > 0; claimed = claims(state, now)) {
        for (const row of claimed) attempt(row, { mode: model.mode, now, endpointId });
        for (const row of claimed) heed(state, now, row.attempts.at(-1)?.result);
      }
    },
    nextAt: () => Math.max(pending(state)[0]?.nextAt ?? Infinity, state.openUntil ?? 0),
    deliveries: () => state.rows,
  };
  return model;
}

function pending({ rows }: State): Row[] {
  const waiting = rows.filter(({ state }) => state === 'pending');
  return waiting.toSorted(
    (a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0) || (a.webhookId < b.webhookId ? -1 : 1),
  );
}

function miss(state: State): void {
  for (const row of pending(state)) Object.assign(row, { state: 'missed', nextAt: null });
}

function claims(state: State, now: number): Row[] {
  if (state.disabled) miss(state);
  if (state.openUntil !== null && now < state.openUntil) return [];
  const due = pending(state)
    .filter(({ nextAt }) => (nextAt ?? 0) <= now)
    .toSorted((a, b) => Number(a.isReplayed) - Number(b.isReplayed));
  return state.openUntil === null ? due : due.slice(0, 1);
}

function attempt(row: Row, { mode, now, endpointId }: { mode: Mode; now: number; endpointId: string }): void {
  const reply = REPLIES[mode];
  const result = reply === 'reset' ? reply : reply.status;
  row.attempts.push({ at: now, result });
  row.tries += 1;
  const delay = DELAYS_MS[row.tries - 1];
  const base = Math.round((delay ?? 0) * (0.8 + 0.4 * jitterShare(row.webhookId, endpointId, row.tries)));
  if (result === 200) Object.assign(row, { state: 'delivered', nextAt: null });
  else if (delay === undefined) Object.assign(row, { state: 'exhausted', nextAt: null });
  else row.nextAt = now + (mode === 'patient' ? 2 * base : base);
}

function heed(state: State, at: number, result: number | string | undefined): void {
  const ok = result === 200;
  const isAfter = state.openUntil !== null && at >= state.openUntil;
  if (ok && isAfter) Object.assign(state, { openUntil: null, results: [] });
  else state.results.push({ at, ok });
  if (ok) Object.assign(state, { failingSince: null, failures: 0 });
  else fail(state, at, { isAfter, isGone: result === 410 });
}

function fail(state: State, at: number, { isAfter, isGone }: { isAfter: boolean; isGone: boolean }): void {
  state.failingSince ??= at;
  state.failures += 1;
  if (isGone || (state.failures >= 10 && at - state.failingSince >= 5 * DAY)) state.disabled = true;
  const counted = state.results.filter((result) => result.at - (result.at % 30_000) > at - 5 * MINUTE);
  const bad = counted.filter((result) => !result.ok).length;
  const trips = state.openUntil === null && counted.length >= 10 && bad >= 0.7 * counted.length;
  if (!state.disabled && (isAfter || trips)) state.openUntil = at + 30_000;
}
