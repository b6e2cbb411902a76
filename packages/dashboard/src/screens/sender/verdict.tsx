import { Paper, Stack, Text, Title } from '@mantine/core';
import { CircleCheck, CircleX, Inbox } from 'lucide-react';
import type { SendingState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { Mark } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';

/** The send check of the sender, now and with a relay, so that problems can be fixed in advance. */
export function SendingStatus({ sending }: { sending: SendingState }): ReactNode {
  const { sender, with_relay: withRelay } = sending;
  return (
    <Paper withBorder p="md" component="section" aria-label="Send check">
      <Stack gap="xs" align="start">
        <Title order={2} size="h5">
          Send check
        </Title>
        {sender.test_inbox ? <TestInboxStatus no={withRelay} /> : <RelayStatus no={sender.problem} />}
        <Text size="sm">
          Emails come from <b>{sender.name}</b> <code>{sender.address}</code>
          {sender.reply_to !== null && (
            <>
              {' '}
              with replies to <code>{sender.reply_to}</code>
            </>
          )}
          .
        </Text>
      </Stack>
    </Paper>
  );
}

type No = SendingState['with_relay'];

function TestInboxStatus({ no }: { no: No }): ReactNode {
  return (
    <>
      <Mark icon={Inbox} tone="info" label="Emails go to the test inbox" />
      <Text size="sm">
        This installation has no relay, so no email leaves this machine and no sender is required. See the
        emails in the{' '}
        <TextLink inherit to="/p/$project/test-inbox">
          {' '}
          test inbox
        </TextLink>
        . After you set <code>SMTP_URL</code>:
      </Text>
      <RelayStatus no={no} isLater />
    </>
  );
}

const HELD: Record<NonNullable<No>['reason'], string> = {
  no_sender: 'All emails are held: the sender is incomplete',
  domain_not_ready: 'All emails are held: the domain cannot send',
  public_url: 'All emails are held: links would not work',
};

function RelayStatus({ no, isLater = false }: { no: No; isLater?: boolean }): ReactNode {
  if (no === null)
    return (
      <Mark icon={CircleCheck} tone="good" label={isLater ? 'Emails would be sent' : 'Emails can be sent'} />
    );
  const label = isLater ? HELD[no.reason].replace('are held', 'would be held') : HELD[no.reason];
  return (
    <>
      <Mark icon={CircleX} tone={isLater ? 'quiet' : 'bad'} label={label} />
      <Text size="sm">
        {no.reason === 'no_sender' ? 'Set name, address and postal address below.' : sentence(no.detail)}
      </Text>
      {no.reason === 'domain_not_ready' && (
        <TextLink to="/p/$project/settings/domains">Open Domains</TextLink>
      )}
    </>
  );
}

function sentence(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}
