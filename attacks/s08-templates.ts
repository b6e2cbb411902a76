import type { Attack } from './attack.ts';
import { runTests } from './run-tests.ts';

export const s08: Attack = {
  id: 'S8',
  title: 'templates: escaping, injection, values without an end',
  passLine: 'a value changes no element, attribute or link of a letter, and none stops the server',
  quick: true,
  run: (target) =>
    runTests(target, [
      'packages/server/src/features/writing/injection.test.ts',
      'packages/server/src/features/writing/render.test.ts',
      'packages/server/src/features/writing/render-email.test.ts',
      'packages/server/src/features/writing/compile-letter.test.ts',
      'packages/server/src/features/writing/clean-edited.test.ts',
      'packages/server/src/features/wording/guard.test.ts',
      'packages/server/src/features/outbox/styles.test.ts',
    ]),
};
