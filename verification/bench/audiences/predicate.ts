import { evaluate } from '../../../packages/server/src/platform/predicate/evaluate.ts';
import type { Facts } from '../../../packages/server/src/platform/predicate/predicate.ts';
import { parsePredicate } from '../../../packages/server/src/platform/predicate/parse.ts';
import {
  buildModel,
  type AudienceVersionSource,
} from '../../../packages/server/src/modules/audiences/model.ts';
import { median } from '../measure.ts';
import { ratio, round } from '../print.ts';
import { type Audience, audiences, ofEvent } from '../world.ts';

/** Measures in memory how many definitions are evaluated per second, and the cost of finding those that an event affects. */
const ROUNDS = 7;
const ROUND_MS = 200;
const DAY_MS = 86_400_000;

export function evaluations(): string[][] {
  const all = sourcesOf(audiences(20)).map(({ predicate }) => predicate);
  const now = Date.now();
  const facts: Facts = {
    now,
    email: 'person@example.com',
    trait: (key) => (key === 'seats' ? 5 : key === 'plan' ? 'pro' : undefined),
    total: () => ({ count: 4, firstAt: now - 30 * DAY_MS, lastAt: now - DAY_MS }),
    nth: () => now - DAY_MS,
    sum: () => ({ sum: 40, oldestAt: now - 20 * DAY_MS }),
    isMember: () => false,
  };
  let holding = 0;
  const perSecond = speed(() => {
    for (const predicate of all) if (evaluate(predicate, facts).matches) holding += 1;
  });
  if (holding === 0) throw new Error('no definition holds: the facts do not fit');
  return [['the 20 audiences of the processing benchmark, in turn', round(perSecond * all.length)]];
}

export function touching(): string[][] {
  const five = ofEvent('feature_used');
  const manyAudiences = [...five, ...audiences(515).slice(20)];
  const models = [five, manyAudiences].map((subset) => buildModel(sourcesOf(subset)));
  const touch = { isNew: false, events: new Set(['feature_used']), traits: [], email: false };
  const perSecond = models.map((model) => {
    const touched = model.touchedBy(touch).length;
    if (touched !== 5) throw new Error(`${touched} are touched, and not five`);
    return speed(() => model.touchedBy(touch));
  });
  const [few = Number.NaN, many = Number.NaN] = perSecond.map((each) => 1e9 / each);
  return [
    [
      `${models.map(({ versions }) => versions.length).join(' and ')} audiences, 5 touched`,
      `${round(few)} ns`,
      `${round(many)} ns`,
      ratio(many / few),
    ],
  ];
}

/** Returns calls per second: the median of several rounds after a warm-up round. */
function speed(call: () => void): number {
  const rounds: number[] = [];
  for (let i = 0; i <= ROUNDS; i += 1) {
    const startedAt = performance.now();
    let calls = 0;
    while (performance.now() - startedAt < ROUND_MS) {
      for (let n = 0; n < 100; n += 1) call();
      calls += 100;
    }
    if (i > 0) rounds.push((calls / (performance.now() - startedAt)) * 1_000);
  }
  return median(rounds);
}

function sourcesOf(subset: Audience[]): AudienceVersionSource[] {
  return subset.map(({ name, definition }, i) => {
    const parsed = parsePredicate(definition);
    if (!parsed.ok) throw new Error(`${name} cannot be read`);
    return {
      versionId: i + 1,
      audienceId: name,
      name,
      state: 'served',
      builtTo: null,
      built: 0,
      predicate: parsed.predicate,
    };
  });
}
