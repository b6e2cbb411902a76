import type { ReplySource } from '@beckon/contract/dashboard';
import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Command } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';

/** The address to enter elsewhere, so that emails reach Beckon. */
export function SourceAddress({ source }: { source: ReplySource }): ReactNode {
  const { kind, webhook_url: webhookUrl, forward_to: forwardTo, is_local: isLocal } = source;
  if (forwardTo !== null)
    return (
      <Section
        title="Forward replies to"
        text="Add a rule to your mailbox that redirects all emails to this address and keeps their headers."
      >
        <Command text={forwardTo} what="address" />
      </Section>
    );
  if (webhookUrl === null) return null;
  return (
    <Section
      title={kind === 'postmark' ? 'Webhook at Postmark' : 'Address for emails'}
      text={TEXTS[kind] ?? ''}
    >
      <Stack gap="xs">
        <Command text={webhookUrl} what="webhook URL" />
        {isLocal && (
          <Muted>
            The address of this installation is local, so no service can reach it. Set PUBLIC_URL.
          </Muted>
        )}
      </Stack>
    </Section>
  );
}

const TEXTS: Record<string, string> = {
  postmark:
    'Enter it in Postmark as the webhook of your inbound stream, and turn on “Include raw email content in JSON payload”. It contains a password.',
  http: 'Post each raw email to it, unchanged, with the type message/rfc822. It contains a password.',
};
