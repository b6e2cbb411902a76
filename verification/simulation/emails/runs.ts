import { newDraft } from '../../../packages/server/src/modules/drafts/new-draft.ts';
import {
  advance,
  afterDraft,
  onTime,
  moveRunTo,
} from '../../../packages/server/src/modules/rules/runs/advance-run.ts';
import { compile, type Program } from '../../../packages/server/src/modules/rules/runs/program.ts';
import type { Run } from '../../../packages/server/src/modules/rules/runs/run.ts';
import type { Owner, Task } from '../schedule.ts';
import { must } from './checks.ts';
import type { Stage } from './sender.ts';
import { nextToRun, write } from './store.ts';
import { renderTemplate } from './template.ts';

const HOUR = 3_600_000;
const email = { subject: 'Hello', preheader: '', body: 'Hello' };

const PROGRAM: Program = compile([
  { kind: 'draft', email },
  { kind: 'wait', ms: HOUR },
  { kind: 'draft', email },
  { kind: 'wait_until', weekdays: [1, 2, 3, 4, 5], at: '10:00' },
  { kind: 'draft', email },
  { kind: 'end' },
]);

/** Advances runs through their steps. Each of their emails is a draft. One commit per run. */
export function* advanceRuns(stage: Stage, owner: Owner): Task {
  const { schedule, store } = stage;
  for (;;) {
    const now = schedule.clockOf(owner);
    const due = [...store.runs.values()].filter(({ nextAt }) => nextAt !== null && nextAt <= now);
    for (const { id } of due) {
      const run = store.runs.get(id);
      // Another process may have advanced it since.
      if (run && run.nextAt !== null && run.nextAt <= now) continueRun(stage, run, now);
      yield { action: `advanced the run ${id}` };
    }
    const until = Math.max(schedule.now() + 100, Math.min(nextToRun(store), schedule.now() + 10 * 60_000));
    yield { action: 'no more runs', until };
  }
}

function continueRun({ store, zone, schedule }: Stage, run: Run, now: number): void {
  const isDraft = PROGRAM[run.step]?.kind === 'draft';
  const isNew = run.waitsFor === null;
  const step = isNew ? run.step : isDraft ? afterDraft(PROGRAM, run.step) : onTime(PROGRAM, run.step);
  const position = advance(PROGRAM, { step, now, zone, branch: () => true });
  must(isNew || position.step > run.step, `the run ${run.id} goes back`);
  store.runs.set(run.id, moveRunTo(run, position, now));
  if (position.stop.kind !== 'draft') return;
  const autopilotMs = schedule.random.pick([null, 10 * 60_000, HOUR, HOUR]);
  const endsAt = schedule.random.chance(0.2) ? now + 20 * HOUR : null;
  const created = newDraft({
    projectId: 1,
    id: `${run.id}-${position.step}`,
    ruleId: 'rule',
    version: 1,
    runId: run.id,
    step: position.step,
    userId: run.userId,
    key: '',
    ...renderTemplate(store.template),
    priority: schedule.random.whole(1, 3) * 10,
    counts: schedule.random.chance(0.8),
    autopilotMs,
    endsAt,
    expiresAfterMs: 72 * HOUR,
    hasAddress: true,
    mayHaveLeft: false,
    now,
  });
  write(store, created);
}

export function newRun(id: string, userId: string, startsAt: number): Run {
  return {
    projectId: 1,
    id,
    ruleId: 'rule',
    version: 1,
    userId,
    key: '',
    state: 'active',
    variant: 'treatment',
    single: false,
    step: 0,
    waitsFor: null,
    nextAt: startsAt,
    anchor: {
      kind: 'event',
      id: 'e',
      name: 'signed_up',
      properties: {},
      occurredAt: startsAt,
      acceptedAt: startsAt,
      seq: 1,
    },
    endsAt: null,
    enrolledAt: startsAt,
    goalUntil: null,
    convertedAt: null,
    endedAt: null,
    endReason: null,
    lostMs: null,
  };
}
