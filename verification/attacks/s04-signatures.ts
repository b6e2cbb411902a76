import type { Attack } from './attack.ts';
import { runTests } from './run-tests.ts';

export const s04: Attack = {
  id: 'S4',
  title:
    'signatures of webhooks: published vectors, rotation, tampering, replay, clocks, the standardwebhooks package',
  passLine: 'every published vector verifies; a changed, late or foreign signature is refused',
  quick: true,
  run: (target) =>
    runTests(target, [
      'packages/contract/src/signature.test.ts',
      'packages/server/src/modules/webhooks/dispatch/deliver.test.ts',
    ]),
};
