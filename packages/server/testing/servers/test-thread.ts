import { Fault } from '../../src/platform/fault.ts';
import { serveTasks } from '../../src/platform/threads/serve-tasks.ts';

/** Tasks with every behavior that a thread of the pool may have. */
export const TEST_TASKS = {
  echo: (input: unknown) => input,
  double: (input: number) => input * 2,
  refuse: (message: string): never => {
    throw new Fault('validation_failed', { details: [{ message, field: 'body' }] });
  },
  stumble: (message: string): never => {
    throw new TypeError(message);
  },
  loop: (): never => {
    for (;;);
  },
  devour: (): number => {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => at));
  },
  leave: (): never => process.exit(0),
};

serveTasks(TEST_TASKS);
