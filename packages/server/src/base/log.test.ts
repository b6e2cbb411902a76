import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';

test.skipIf(!existsSync('/dev/full'))('a log that cannot be written fails nobody', () => {
  const full = openSync('/dev/full', 'w');
  const log = createLog('info', full as 1);
  expect(() => log.info({ lane: 'live' }, 'records.accepted')).not.toThrow();
  closeSync(full);
});
