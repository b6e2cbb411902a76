import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { MailOpen, Send } from 'lucide-react';
import type { FirstEmail as Email } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange, useMay } from '../../api/index.ts';
import { formatTime, refused, notify, When } from '../../parts/index.ts';
import { reasonWords } from '../../parts/policy-words.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ActButton } from '../../parts/act-button.tsx';

/** The first draft of a new project: its send time with the reason, and a way to see it now. */
export function FirstEmail({ email, isTestInbox }: { email: Email; isTestInbox: boolean }): ReactNode {
  const maySend = useMay('reviewer');
  const test = useChange('POST /projects/:project/drafts/:draft/send-test', {
    onDone: ({ data: { to } }) =>
      notify(isTestInbox ? 'Test copy saved in the test inbox' : `Test copy sent to ${to}`),
    onRefused: (error) => refused(error),
  });
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="first-email-title">
      <Stack gap="sm" align="start">
        <Title order={2} size="h5" id="first-email-title">
          Your first email
        </Title>
        <Text size="sm">
          “{email.subject || 'No subject yet'}” to {email.external_user_id}, from the rule {email.rule}.{' '}
          <Leaves email={email} />
        </Text>
        <Group gap="xs">
          <ActButton
            icon={Send}
            change={test}
            variant="filled"
            size="sm"
            disabled={!maySend}
            onClick={() => test.mutate({ params: { draft: email.draft_id }, body: {} })}
          >
            Send me a test
          </ActButton>
          <LinkButton
            size="sm"
            leftSection={<MailOpen size={15} aria-hidden="true" />}
            to="/p/$project/drafts/$draft"
            params={{ draft: email.draft_id }}
          >
            Open draft
          </LinkButton>
          {isTestInbox && test.isSuccess && <TextLink to="/p/$project/test-inbox">Open test inbox</TextLink>}
        </Group>
      </Stack>
    </Paper>
  );
}

function Leaves({ email }: { email: Email }): ReactNode {
  const { state, sends_at, reason, quiet_until, time_zone } = email;
  if (sends_at === null) {
    if (reason === null) return <>Waits for approval in Review.</>;
    return <>Held: {reasonWords(reason)}.</>;
  }
  return (
    <>
      Sent <When at={sends_at} theirZone={time_zone} />
      {quiet_until !== null
        ? `: quiet hours until ${formatTime(quiet_until, time_zone)} (${time_zone}).`
        : reason !== null
          ? `, because of ${reasonWords(reason)}.`
          : state === 'approved'
            ? '. It is approved.'
            : ', or earlier if approved.'}
    </>
  );
}
