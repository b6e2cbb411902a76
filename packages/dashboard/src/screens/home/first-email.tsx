import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { MailOpen, Send } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { FirstEmail as Email } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange, useMay, useProject } from '../../api/index.ts';
import { formatTime, refused, notify, When } from '../../parts/index.ts';
import { reasonWords } from '../../parts/policy-words.ts';

/** The first draft of a new project: its send time with the reason, and a way to see it now. */
export function FirstEmail({ email, isTestInbox }: { email: Email; isTestInbox: boolean }): ReactNode {
  const project = String(useProject().id);
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
          <Button
            size="sm"
            leftSection={<Send size={15} aria-hidden="true" />}
            disabled={!maySend}
            loading={test.isPending}
            onClick={() => test.mutate({ params: { draft: email.draft_id }, body: {} })}
          >
            Send me a test
          </Button>
          <Button
            size="sm"
            variant="default"
            leftSection={<MailOpen size={15} aria-hidden="true" />}
            renderRoot={(props) => (
              <Link to="/p/$project/drafts/$draft" params={{ project, draft: email.draft_id }} {...props} />
            )}
          >
            Open draft
          </Button>
          {isTestInbox && test.isSuccess && (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="/p/$project/test-inbox" params={{ project }} {...props} />}
            >
              Open test inbox
            </Anchor>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

function Leaves({ email }: { email: Email }): ReactNode {
  const { sends_at, reason, quiet_until, time_zone } = email;
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
          : ', or earlier if approved.'}
    </>
  );
}
