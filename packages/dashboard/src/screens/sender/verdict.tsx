import { Anchor, Paper, Stack, Text, Title } from '@mantine/core';
import { CircleCheck, CircleX, Inbox } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { SendingState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useProject } from '../../api/index.ts';
import { Mark } from '../../parts/index.ts';

/** What the sender gate says now, and what it would say with a relay, so that it can be put right before. */
export function Verdict({ sending }: { sending: SendingState }): ReactNode {
  const { sender, with_relay: withRelay } = sending;
  return (
    <Paper withBorder p="md" component="section" aria-label="What the gate says">
      <Stack gap="xs" align="start">
        <Title order={2} size="h5">
          What the gate says
        </Title>
        {sender.test_inbox ? <TestInboxVerdict no={withRelay} /> : <RelayVerdict no={sender.problem} />}
        <Text size="sm">
          Letters come from <b>{sender.name}</b> <code>{sender.address}</code>
          {sender.reply_to !== null && (
            <>
              {' '}
              and are answered to <code>{sender.reply_to}</code>
            </>
          )}
          .
        </Text>
      </Stack>
    </Paper>
  );
}

type No = SendingState['with_relay'];

function TestInboxVerdict({ no }: { no: No }): ReactNode {
  const project = String(useProject().id);
  return (
    <>
      <Mark icon={Inbox} tone="info" label="Letters stay in the outbox" />
      <Text size="sm">
        This installation has no relay, so nothing here reaches a person, and no gate asks for a sender. Look
        at what would have left in the{' '}
        <Anchor
          inherit
          renderRoot={(props) => <Link to="/p/$project/test-inbox" params={{ project }} {...props} />}
        >
          outbox
        </Anchor>
        . With <code>SMTP_URL</code> set:
      </Text>
      <RelayVerdict no={no} isLater />
    </>
  );
}

const HELD: Record<NonNullable<No>['reason'], string> = {
  no_sender: 'Every letter is held: the sender is not complete',
  domain: 'Every letter is held: its domain may not send',
  public_url: 'Every letter is held: nobody could open its links',
};

function RelayVerdict({ no, isLater = false }: { no: No; isLater?: boolean }): ReactNode {
  const project = String(useProject().id);
  if (no === null)
    return (
      <Mark
        icon={CircleCheck}
        tone="good"
        label={isLater ? 'Letters would leave' : 'Letters may leave as this sender'}
      />
    );
  const label = isLater ? HELD[no.reason].replace('is held', 'would be held') : HELD[no.reason];
  return (
    <>
      <Mark icon={CircleX} tone={isLater ? 'quiet' : 'bad'} label={label} />
      <Text size="sm">
        {no.reason === 'no_sender'
          ? 'Name, address and postal address have to be said below.'
          : sentence(no.detail)}
      </Text>
      {no.reason === 'domain' && (
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/p/$project/domains" params={{ project }} {...props} />}
        >
          Open Domains
        </Anchor>
      )}
    </>
  );
}

function sentence(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}
