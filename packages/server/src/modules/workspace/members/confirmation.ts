import { Fault } from '../../../platform/fault.ts';

/**
 * Before a sign-in method is added to an account, its member has to prove their identity again. A session alone does not suffice, because a
 * stolen one could create a passkey or a token that outlives it (ASVS 7.5.1). Signing in counts, for as long as a confirmation does.
 */
const VALID_FOR_MS = 10 * 60_000;

export function requireConfirmed({ confirmedAt }: { confirmedAt: Date | null }, now: number): void {
  const isRecent = confirmedAt !== null && now - confirmedAt.getTime() < VALID_FOR_MS;
  if (!isRecent) throw new Fault('confirmation_required');
}
