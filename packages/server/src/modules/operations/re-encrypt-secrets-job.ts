import { forEachInOrder } from '../../platform/async/one-by-one.ts';
import { type ReencryptDeps, secretKinds } from './re-encrypt-secrets.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';

const LOOK_EVERY_MS = 20_000;
const EVERY_MS = 10 * 60_000;

/**
 * Re-encrypts secrets with the current secret key, soon after the start and then every ten minutes. While several processes change the key
 * one after another, the last of them still encrypt with the old one.
 */
export function reencryptSecretsJob(deps: ReencryptDeps): Job {
  const { db, log } = deps;
  const functions = secretKinds(deps);
  const kinds = [...functions.keys()];
  let dueAt = 0;
  return {
    name: 'reencrypt_secrets',
    everyMs: LOOK_EVERY_MS,
    async run(stopping) {
      const now = db.clock.now();
      if (now < dueAt) return;
      const options = { log, job: 'reencrypt_secrets', stopping, fieldsOf: (kind: string) => ({ kind }) };
      await forEachInOrder(kinds, options, async (kind) => {
        const count = await functions.get(kind)?.();
        if (count) log.info({ kind, count }, 'secrets.reencrypted');
      });
      // A kind that failed is retried at the next run, and counted each time.
      dueAt = now + EVERY_MS;
    },
  };
}
