import { type FactorRow, listFactors } from './reads.ts';
import { updateFactor } from './store.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Log } from '../../../platform/log.ts';

/** The current secret first, as `createAuth` expects them. */
export type ReencryptFactorsOptions = { secrets: readonly [string, ...string[]]; log: Log };

const AT_ONCE = 100;

/**
 * Re-encrypts authenticator apps and backup codes that the previous secret encrypted, so that it can be retired. Returns their number. A
 * value that no secret decrypts is logged as a warning and does not stop the others.
 */
export async function reencryptFactors(tx: Tx, { secrets, log }: ReencryptFactorsOptions): Promise<number> {
  let page = await listFactors(tx, { after: '', limit: AT_ONCE });
  if (page.length === 0) return 0;
  // Commands load this folder too, and never need this.
  const { parseEnvelope, symmetricDecrypt, symmetricEncrypt } = await import('better-auth/crypto');
  const currentVersion = versionOf(secrets[0]);
  const key = { keys: new Map(secrets.map((value) => [versionOf(value), value])), currentVersion };
  const isCurrent = (data: string): boolean => parseEnvelope(data)?.version === currentVersion;
  const again = async (data: string): Promise<string> =>
    symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data }) });

  async function reencrypt(row: FactorRow): Promise<boolean> {
    if (isCurrent(row.secret) && isCurrent(row.backupCodes)) return false;
    try {
      const renewed = { secret: await again(row.secret), backupCodes: await again(row.backupCodes) };
      return await updateFactor(tx, row, renewed);
    } catch (error) {
      log.warn({ factor_id: row.id, err: error }, 'two_factor.not_reencrypted');
      return false;
    }
  }

  let reencrypted = 0;
  while (page.length > 0) {
    for (const row of page) reencrypted += (await reencrypt(row)) ? 1 : 0;
    page = await listFactors(tx, { after: page.at(-1)?.id ?? '', limit: AT_ONCE });
  }
  return reencrypted;
}

/** Derives the number from the secret and not from its position, so that rotating secrets changes no number. */
export function versionOf(secret: string): number {
  return Number.parseInt(sha256(secret).slice(0, 8), 16);
}
