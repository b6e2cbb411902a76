import type { BrowserContext } from 'playwright-core';

export type Stage = { name: string; clicks: number; fields: number; seconds: number };

/** Counts what a member does in a browser, by stage: clicks, fields that were typed into, and the time until the result. */
export type Recorder = {
  stages: Stage[];
  /** Counts the input on all pages that this context opens from now on. */
  watch: (context: BrowserContext) => Promise<void>;
  /** Runs a stage, which ends when its result is visible. */
  stage: <T>(name: string, run: () => Promise<T>) => Promise<T>;
  table: () => string;
};

/** A field counts once until it loses the focus. Events that a script dispatches do not count. */
const COUNT_INPUT = `
  let typedInto = null;
  addEventListener('pointerdown', ({ isTrusted }) => void (isTrusted && countInput('clicks')), true);
  addEventListener('focusout', () => (typedInto = null), true);
  addEventListener('input', ({ isTrusted, inputType, target }) => {
    if (!isTrusted || inputType === undefined || typedInto === target) return;
    typedInto = target;
    countInput('fields');
  }, true);
`;

export function newRecorder(): Recorder {
  const stages: Stage[] = [];
  let current: Stage | null = null;
  return {
    stages,
    async watch(context) {
      await context.exposeBinding('countInput', (_, kind: 'clicks' | 'fields') => {
        if (current) current[kind] += 1;
      });
      await context.addInitScript(COUNT_INPUT);
    },
    async stage(name, run) {
      const stage = { name, clicks: 0, fields: 0, seconds: 0 };
      stages.push(stage);
      current = stage;
      const startedAt = performance.now();
      try {
        return await run();
      } finally {
        stage.seconds = (performance.now() - startedAt) / 1_000;
        current = null;
      }
    },
    table() {
      const sum = (kind: 'clicks' | 'fields' | 'seconds'): number =>
        stages.reduce((all, stage) => all + stage[kind], 0);
      const total = { name: 'Total', clicks: sum('clicks'), fields: sum('fields'), seconds: sum('seconds') };
      const rows = [...stages, total].map(({ name, clicks, fields, seconds }) => [
        name.padEnd(32),
        ...[String(clicks), String(fields), seconds.toFixed(1)].map((cell) => cell.padStart(7)),
      ]);
      const head = ['stage'.padEnd(32), ' clicks', ' fields', 'seconds'];
      return [head, ...rows].map((cells) => `${cells.join(' ')}\n`).join('');
    },
  };
}
