import type { ForecastChange, PolicyEffect, PolicyTotals, SendForecast } from '@beckon/contract/dashboard';
import {
  type SendServices,
  policyOf,
  type DraftForecast,
  type GateReason,
  type Policy,
  type Queue,
  simulateQueue,
  findOutlet,
} from '../delivery/index.ts';
import { forecastOf, loadWaitingQueue, timeOrNull } from '../explain/index.ts';
import { countAutopilot } from '../review/index.ts';
import { listRules } from '../rules/index.ts';
import { getSettings, readChanges, readSettings, type SettingName } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';
import { Fault } from '../../platform/fault.ts';
import { iso } from '../../platform/time/clock.ts';
import { runStepsSlowly, type Steps } from '../../platform/time/steps.ts';

const DIFFERENCES_MAX = 100;
const HOUR_MS = 3_600_000;
const HOURS_MAX = 7 * 24;
/** The settings that send checks use. */
const OF_POLICY: SettingName[] = ['quiet_hours', 'frequency_cap', 'throttle', 'time_zone', 'paused'];

/** Simulates the current queue under the current and a proposed policy, with the send checks that sending uses. */
export function simulatePolicy(
  { db, sendServices }: { db: Pick<Database, 'session' | 'clock'>; sendServices: SendServices },
  { projectId, settings }: { projectId: number; settings: Record<string, string> },
): Promise<PolicyEffect> {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { texts, stored } = await getSettings(tx, projectId);
    const changes = readChanges(onlyPolicy(settings));
    // This uses the stored texts and not all texts, because quiet hours that were never set may hold nothing.
    const outlet = await findOutlet(tx, projectId, sendServices.outlet);
    const [current, proposed] = [
      policyOf(readSettings(stored), outlet),
      policyOf(readSettings({ ...stored, ...changes }), outlet),
    ];
    const query = { projectId, now, policies: [current, proposed], sendServices };
    const { queue, isCut } = await loadWaitingQueue(tx, query);
    const compared = await runStepsSlowly(comparePolicies(queue, now, { current, proposed }));
    const endsAutopilot = changes.autopilot === 'draft' && texts.autopilot !== 'draft';
    const names = new Map((await listRules(tx, projectId)).map(({ id, name }) => [id, name]));
    return {
      drafts: queue.drafts.length,
      truncated: isCut,
      current: totalsOf(
        compared.drafts.map((draft) => draft.current),
        now,
      ),
      proposed: totalsOf(
        compared.drafts.map((draft) => draft.proposed),
        now,
      ),
      earlier: compared.totals.earlier,
      later: compared.totals.later,
      unchanged: compared.totals.unchanged,
      median_shift_ms: compared.totals.medianShiftMs,
      newly_expire: compared.drafts.filter(isLost).length,
      stop_sending: endsAutopilot ? await countAutopilot(tx, projectId) : 0,
      hours: hoursOf(compared, now),
      differences: differencesOf(compared, queue, (ruleId) => names.get(ruleId) ?? ruleId),
    };
  });
}

function onlyPolicy(settings: Record<string, string>): Record<string, string> {
  const others = Object.keys(settings).filter(
    (name) => !OF_POLICY.some((policyName) => policyName === name) && !takesDeadlines(name, settings[name]),
  );
  if (others.length === 0) return settings;
  throw new Fault('validation_failed', {
    details: others.map((field) => ({
      message: `${field} does not affect sending. Use ${OF_POLICY.join(', ')}`,
      field,
    })),
  });
}

/** A new deadline applies to new drafts. Removing it applies to waiting drafts too, at once. */
function takesDeadlines(name: string, text: string | undefined): boolean {
  return name === 'autopilot' && text === 'draft';
}

function isLost({ current, proposed }: Comparison['drafts'][number]): boolean {
  return current.kind === 'sends' && proposed.kind === 'expires';
}

function hoursOf({ drafts }: Comparison, now: number): PolicyEffect['hours'] {
  const first = now - (now % HOUR_MS);
  const hours = new Map<number, { current: number; proposed: number }>();
  for (const draft of drafts) {
    for (const policy of ['current', 'proposed'] as const) {
      const forecast = draft[policy];
      if (forecast.kind !== 'sends' || forecast.leavesAt >= first + HOURS_MAX * HOUR_MS) continue;
      const at = forecast.leavesAt - (forecast.leavesAt % HOUR_MS);
      const hour = hours.get(at) ?? { current: 0, proposed: 0 };
      hour[policy] += 1;
      hours.set(at, hour);
    }
  }
  return [...hours].toSorted(([a], [b]) => a - b).map(([at, counts]) => ({ at: iso(at), ...counts }));
}

/** Times are ISO text, as in the API. */
function totalsOf(forecasts: DraftForecast[], now: number): PolicyTotals {
  const moments = forecasts
    .flatMap((forecast) => (forecast.kind === 'sends' ? [forecast.leavesAt] : []))
    .toSorted((a, b) => a - b);
  const held: PolicyTotals['held'] = {};
  for (const forecast of forecasts) {
    const reason = forecast.kind === 'held' ? forecast.reason : forecast.after;
    if (reason !== null) held[reason] = (held[reason] ?? 0) + 1;
  }
  return {
    sends: moments.length,
    sends_immediately: moments.filter((at) => at <= now).length,
    held,
    expires: forecasts.filter(({ kind }) => kind === 'expires').length,
    median_send_at: timeOrNull(moments[(moments.length - 1) >> 1]),
    last_send_at: timeOrNull(moments.at(-1)),
  };
}

function differencesOf(
  { drafts }: Comparison,
  queue: Queue,
  names: (ruleId: string) => string,
): ForecastChange[] {
  const byId = new Map(queue.drafts.map((draft) => [draft.id, draft]));
  const differing = drafts.filter(
    ({ current, proposed }) => !isSame(forecastOf(current), forecastOf(proposed)),
  );
  return differing.slice(0, DIFFERENCES_MAX).map(({ id, current, proposed }) => {
    const draft = byId.get(id);
    return {
      id,
      rule: names(draft?.ruleId ?? ''),
      external_user_id: draft?.userId ?? '',
      current: forecastOf(current),
      proposed: forecastOf(proposed),
    };
  });
}

function isSame(a: SendForecast, b: SendForecast): boolean {
  return a.result === b.result && a.at === b.at && (a.result === 'sends' || a.reason === b.reason);
}

/** The same queue under the current and a proposed policy. */
type Comparison = {
  drafts: { id: string; current: DraftForecast; proposed: DraftForecast }[];
  totals: {
    current: Tally;
    proposed: Tally;
    /** Counts of the drafts that are sent under both policies. */
    earlier: number;
    later: number;
    unchanged: number;
    /** The median over the drafts that are sent earlier or later. Null if no draft moves. */
    medianShiftMs: number | null;
  };
};

type Tally = {
  sends: number;
  held: number;
  expires: number;
  /** The number of held drafts by the send check that held them last. */
  reasons: Partial<Record<GateReason, number>>;
  lastLeavesAt: number | null;
};

type Policies = { current: Policy; proposed: Policy };

/** Compares in steps, as `simulating` does. */
export function* comparePolicies(
  queue: Queue,
  now: number,
  { current, proposed }: Policies,
): Steps<Comparison> {
  const before = yield* simulateQueue(queue, current, now);
  const after = yield* simulateQueue(queue, proposed, now);
  const drafts = queue.drafts.map(({ id }) => ({
    id,
    current: forecastFor(before, id),
    proposed: forecastFor(after, id),
  }));
  const shifts = drafts.flatMap((draft) => shiftOf(draft.current, draft.proposed));
  return {
    drafts,
    totals: {
      current: tally(drafts.map((draft) => draft.current)),
      proposed: tally(drafts.map((draft) => draft.proposed)),
      earlier: shifts.filter((ms) => ms < 0).length,
      later: shifts.filter((ms) => ms > 0).length,
      unchanged: shifts.filter((ms) => ms === 0).length,
      medianShiftMs: median(shifts.filter((ms) => ms !== 0)),
    },
  };
}

function forecastFor(forecasts: Map<string, DraftForecast>, id: string): DraftForecast {
  const forecast = forecasts.get(id);
  if (!forecast) throw new Error(`no result was found for draft ${id}`);
  return forecast;
}

function shiftOf(current: DraftForecast, proposed: DraftForecast): number[] {
  return current.kind === 'sends' && proposed.kind === 'sends' ? [proposed.leavesAt - current.leavesAt] : [];
}

/** Returns the lower one of two middle values, so that the median is a shift that some draft has. */
function median(values: number[]): number | null {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? null;
}

function tally(forecasts: DraftForecast[]): Tally {
  const result: Tally = { sends: 0, held: 0, expires: 0, reasons: {}, lastLeavesAt: null };
  for (const forecast of forecasts) {
    result[forecast.kind] += 1;
    const reason = forecast.kind === 'held' ? forecast.reason : forecast.after;
    if (reason) result.reasons[reason] = (result.reasons[reason] ?? 0) + 1;
    if (forecast.kind === 'sends')
      result.lastLeavesAt = Math.max(result.lastLeavesAt ?? 0, forecast.leavesAt);
  }
  return result;
}
