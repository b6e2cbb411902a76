import { describe, expect, test } from 'vitest';
import { RELAY_ADAPTERS } from './adapters.ts';
import { relayKinds } from './kinds.ts';
import { smtpAddressOfUrl, spfOfRelay, spfOfSmtp } from './smtp-provider.ts';

const kinds = relayKinds(Object.values(RELAY_ADAPTERS), 'smtps://api:secret@smtp-broadcasts.postmarkapp.com');

describe('spfOfRelay', () => {
  test.each(['postmark', 'resend', 'ses', 'sendgrid', 'brevo', 'postal'] as const)(
    'demands no include for %s, which sends with a return path of its own',
    (kind) => {
      expect(spfOfRelay(kind, {})).toBeNull();
    },
  );

  test('demands the include of Mailgun at its own domain', () => {
    const need = { include: 'mailgun.org', domain: 'mg.acme.test' };
    expect(spfOfRelay('mailgun', { domain: 'mg.acme.test' })).toEqual(need);
    const smtp = { host: 'smtp.eu.mailgun.org', username: 'postmaster@MG.acme.test' };
    expect(spfOfRelay('smtp', smtp)).toEqual(need);
  });

  test('takes the include of an SMTP relay from its settings, or from its host', () => {
    const set = { host: 'smtp.acme.test', spf_include: '_spf.acme.test' };
    expect(spfOfRelay('smtp', set)).toEqual({ include: '_spf.acme.test', domain: null });
    expect(spfOfRelay('smtp', { host: 'smtp-relay.gmail.com' })?.include).toBe('_spf.google.com');
    expect(spfOfRelay('smtp', { host: 'acme.mail.protection.outlook.com' })?.include).toBe(
      'spf.protection.outlook.com',
    );
    expect(spfOfRelay('smtp', { host: 'smtp.acme.test' })).toBeNull();
  });

  test('recognizes the provider in SMTP_URL', () => {
    const url = 'smtp://postmaster%40mg.acme.test:p%40ss@smtp.mailgun.org:587';
    expect(spfOfSmtp(smtpAddressOfUrl(url))).toEqual({ include: 'mailgun.org', domain: 'mg.acme.test' });
    expect(spfOfSmtp(smtpAddressOfUrl('smtp://smtp.sendgrid.net'))).toBeNull();
  });
});

describe('relayKinds', () => {
  test('offers feedback for SMTP_URL only if its host belongs to a provider', () => {
    expect(kinds.of('smtp_url')?.title).toBe('Postmark by SMTP_URL');
    const names = kinds.of('smtp_url')?.fields.map(({ name, isOptional }) => [name, isOptional ?? false]);
    // The host says that the stream is for broadcasts.
    expect(names).toEqual([
      ['provider', false],
      ['server_token', true],
      ['api_url', true],
    ]);
    const unknown = relayKinds(Object.values(RELAY_ADAPTERS), 'smtp://smtp.acme.test');
    expect(unknown.of('smtp_url')).toBeUndefined();
  });

  test('has no reporter if SMTP_URL names another provider than the stored one', () => {
    expect(kinds.reporterOf('smtp_url', { provider: 'mailgun' })).toBeUndefined();
    expect(kinds.reporterOf('smtp_url', { provider: 'postmark' })).toMatchObject({
      settings: { message_stream: 'broadcast' },
      apiNeeds: ['Server API token'],
    });
  });

  test('adds the fields of a provider to an SMTP relay at its host', () => {
    const host = 'email-smtp.eu-west-1.amazonaws.com';
    const names = (settings: Record<string, string>) =>
      kinds.of('smtp', settings)?.fields.map(({ name }) => name) ?? [];
    expect(names({ host })).toContain('queue_url');
    expect(names({ host })).not.toContain('region');
    expect(names({ host: 'smtp.acme.test' })).not.toContain('queue_url');
    expect(kinds.reporterOf('smtp', { host })?.settings['region']).toBe('eu-west-1');
  });

  test('checks the settings of a provider that were entered, and no others', () => {
    const info = kinds.of('smtp', { host: 'email-smtp.eu-west-1.amazonaws.com' });
    const check = (more: Record<string, string>) =>
      info
        ?.checkSettings?.({ host: 'email-smtp.eu-west-1.amazonaws.com', ...more })
        .map(({ field }) => field);
    expect(check({})).toEqual([]);
    expect(check({ topic_arn: 'beckon', configuration_set: 'a\r\nb' })).toEqual([
      'configuration_set',
      'topic_arn',
    ]);
  });
});
