import { listUnprovenNames } from '../../modules/sending/index.ts';
import { type InspectedDatabase, type InstallationCheck, warn } from './checks.ts';

const NAMED_MAX = 5;

/** Warns of relays whose bounces may be missed. `MAIL_DOMAIN` alone proves nothing, because providers replace the return path. */
export async function checkRelayFeedback({
  db,
}: Pick<InspectedDatabase, 'db'>): Promise<InstallationCheck[]> {
  const names = await listUnprovenNames(db, NAMED_MAX + 1);
  if (names.length === 0) return [];
  const shown = names.slice(0, NAMED_MAX).join(', ');
  const more = names.length > NAMED_MAX ? ' and others' : '';
  return [
    warn(
      'relay feedback',
      `No bounce has come back through ${shown}${more}: bounces and complaints may be missed`,
      'Open the relay in the dashboard (Settings → Project → Relays), and send the email that proves its feedback',
    ),
  ];
}
