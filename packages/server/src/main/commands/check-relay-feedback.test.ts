import { beforeEach, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { relayDeps } from '../../../testing/factories/relays.ts';
import { RELAY_ADAPTERS } from '../../platform/relays/adapters.ts';
import { relayKinds } from '../../platform/relays/kinds.ts';
import { createProject } from '../../modules/administration/create-project.ts';
import { addDomain } from '../../modules/sending/domains/change-domain.ts';
import { addRelay, useRelay } from '../../modules/sending/relays/change-relay.ts';
import { INSTALLATION } from '../../modules/sending/relays/relay.ts';
import { checkRelayFeedback, checkSpf } from './check-relay-feedback.ts';

const db = await openTestDatabase(fixedClock());
const kinds = relayKinds(Object.values(RELAY_ADAPTERS), 'smtp://smtp.postmarkapp.com:587');
const deps = { ...relayDeps(db), kinds };
const relayAt = (name: string) => ({ relay: { name, probe: () => Promise.resolve(null) } });
const POSTMARK = relayAt('smtp.postmarkapp.com:587');

let projectId = 0;
beforeEach(async () => {
  ({ id: projectId } = await createProject(db, { name: 'Acme' }));
});

describe('checkRelayFeedback', () => {
  test('warns of a provider in SMTP_URL until its feedback is proven', async () => {
    expect(await checkRelayFeedback({ db }, POSTMARK)).toMatchObject([
      { state: 'warn', next: expect.stringContaining('beckon relays add smtp_url') as string },
    ]);
    // Amazon SES forwards bounces to the sender, and of another host nothing is known.
    for (const name of ['email-smtp.eu-west-1.amazonaws.com', 'smtp.acme.test:587'])
      expect(await checkRelayFeedback({ db }, relayAt(name))).toEqual([]);
    const settings = { provider: 'postmark' };
    const { id } = await addRelay(deps, {
      projectId: INSTALLATION,
      kind: 'smtp_url',
      name: 'SMTP_URL',
      settings,
    });
    expect(await checkRelayFeedback({ db }, POSTMARK)).toMatchObject([
      { state: 'warn', message: expect.stringContaining('through SMTP_URL') as string },
    ]);
    await db.query(`UPDATE beckon.relay SET feedback_proven_at = now() WHERE id = $1`, [id]);
    expect(await checkRelayFeedback({ db }, POSTMARK)).toEqual([]);
    await db.query(`DELETE FROM beckon.relay WHERE id = $1`, [id]);
  });

  test('accepts a relay of the installation in place of SMTP_URL', async () => {
    const settings = { host: 'smtp.acme.test' };
    const relay = await addRelay(deps, { projectId: INSTALLATION, kind: 'smtp', name: 'All', settings });
    await useRelay(deps, { projectId: INSTALLATION, domain: '', relay });
    const checks = await checkRelayFeedback({ db }, POSTMARK);
    expect(checks.map(({ message }) => message)).toEqual([expect.stringContaining('through All')]);
  });
});

describe('checkSpf', () => {
  test('names the include that is missing', async () => {
    expect(await checkSpf({ db })).toEqual([]);
    const mail = { mailDomain: null, spfInclude: null };
    await addDomain({ ...deps, mail }, { projectId, name: 'mail.acme.test' });
    const finding = {
      kind: 'return_path_spf',
      name: 'bounce.mail.acme.test',
      verdict: 'missing',
      include: 'x.test',
    };
    await db.query(`UPDATE beckon.sending_domain SET findings = $2 WHERE project_id = $1`, [
      projectId,
      JSON.stringify([{ ...finding, found: [], says: '', warns: false }]),
    ]);
    expect(await checkSpf({ db })).toMatchObject([
      { message: 'SPF does not allow the relay to send: bounce.mail.acme.test lacks include:x.test' },
    ]);
  });
});
