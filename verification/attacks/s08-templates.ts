import type { Attack } from './attack.ts';
import { runTests } from './run-tests.ts';

export const s08: Attack = {
  id: 'S8',
  title: 'templates: escaping, injection, values without an end, cost',
  passLine:
    'a value changes no element, attribute or link of an email; no value and no template stops the server',
  quick: true,
  run: (target) =>
    runTests(target, [
      'packages/server/src/modules/rendering/injection.test.ts',
      'packages/server/src/modules/rendering/cost.test.ts',
      'packages/server/src/modules/rendering/pool/rendering.test.ts',
      'packages/server/src/platform/threads/worker-pool.test.ts',
      'packages/server/src/modules/rendering/render.test.ts',
      'packages/server/src/modules/rendering/render-email.test.ts',
      'packages/server/src/modules/rendering/compile-email.test.ts',
      'packages/server/src/modules/rendering/clean-edited.test.ts',
      'packages/server/src/modules/templates/ai-drafting/guard.test.ts',
      'packages/server/src/modules/sending/email-checks/styles.test.ts',
    ]),
};
