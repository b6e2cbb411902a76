import PostalMime from 'postal-mime';
import { expect, describe, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../testing/factories/mail-stage.ts';

const stage = await openMailStage();

const STEPS = [
  { draft: { subject: 'Hi', body: 'On {{ event.occurred_at | date: "%A" }}: {{ user.seats | number }}.' } },
];

async function withRule(language = 'en'): Promise<MailScenario> {
  const scenario = await newVerifiedScenario(stage);
  await scenario.set({ language });
  await scenario.rule({ name: 'seats', when: { event: 'seats_used' }, steps: STEPS });
  return scenario;
}

async function draft(scenario: MailScenario, userId: string, traits: Record<string, unknown>): Promise<void> {
  await scenario.user(userId, { email: `${userId}@home.test`, traits: { seats: 1200.5, ...traits } });
  await scenario.event(userId, 'seats_used');
  await scenario.later(MINUTE);
}

async function arrived(scenario: MailScenario) {
  const mails = await Promise.all(
    scenario
      .arrived()
      .map(async ({ raw, to }) => ({ to, mail: await PostalMime.parse(Buffer.from(raw, 'latin1')) })),
  );
  return mails.map(({ to, mail }) => ({
    to: to[0],
    lang: /<html lang="([^"]*)"/.exec(mail.html ?? '')?.[1],
    body: /: ([\d.,]+)\.\n/.exec(mail.text ?? '')?.[1],
    reason: /---\n\n(.*)\n/.exec(mail.text ?? '')?.[1],
  }));
}

const ENGLISH = /^You are receiving this email because you use /;
const GERMAN = /^Sie erhalten diese E-Mail, weil Sie /;
const FRENCH = /^Vous recevez cet e-mail parce que vous utilisez /;

describe('the locale of a sent email', () => {
  test('is that of the user, otherwise the language of the project, otherwise English', async () => {
    const scenario = await withRule();
    await draft(scenario, 'u1', { locale: 'de_DE' });
    await draft(scenario, 'u2', { locale: 'Klingon' });
    await draft(scenario, 'u3', {});
    await scenario.later(2 * HOUR);
    expect(await arrived(scenario)).toMatchObject([
      { to: 'u1@home.test', lang: 'de-DE', body: '1.200,5', reason: expect.stringMatching(GERMAN) },
      { to: 'u2@home.test', lang: 'en', body: '1,200.5', reason: expect.stringMatching(ENGLISH) },
      { to: 'u3@home.test', lang: 'en', body: '1,200.5', reason: expect.stringMatching(ENGLISH) },
    ]);
    const other = await withRule('fr');
    await draft(other, 'u1', { locale: 'de' });
    await draft(other, 'u2', { locale: 'xx' });
    await draft(other, 'u3', {});
    await other.later(2 * HOUR);
    expect(await arrived(other)).toMatchObject([
      { lang: 'de', reason: expect.stringMatching(GERMAN) },
      { lang: 'fr', reason: expect.stringMatching(FRENCH) },
      { lang: 'fr', reason: expect.stringMatching(FRENCH) },
    ]);
  });

  test('is the newest one when a user or a project changes it while a draft waits', async () => {
    const scenario = await withRule();
    await draft(scenario, 'u1', { locale: 'de' });
    await draft(scenario, 'u2', {});
    expect((await scenario.drafts('u1'))[0]?.content.body).toContain('200,5');
    await scenario.user('u1', { traits: { locale: 'en-GB' } });
    await scenario.set({ language: 'fr' });
    await scenario.later(2 * HOUR);
    expect(await arrived(scenario)).toMatchObject([
      { to: 'u1@home.test', lang: 'en-GB', body: '1,200.5', reason: expect.stringMatching(ENGLISH) },
      { to: 'u2@home.test', lang: 'fr', reason: expect.stringMatching(FRENCH) },
    ]);
  });
});
