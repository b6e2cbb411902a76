import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { MailOpen, Send } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { FirstLetter as Letter } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange, useMay, useProject } from '../../api/index.ts';
import { formatTime, refused, told, When } from '../../parts/index.ts';
import { reasonWords } from '../../parts/policy-words.ts';

/** The first draft of a new project: when it leaves, why then, and a way to see it now. */
export function FirstLetter({ letter, outbox }: { letter: Letter; outbox: boolean }): ReactNode {
  const project = String(useProject().id);
  const maySend = useMay('reviewer');
  const test = useChange('POST /projects/:project/drafts/:draft/send-test', {
    onDone: ({ data: { to } }) =>
      told(outbox ? 'A copy for you is in the outbox' : `A copy is on its way to ${to}`),
    onRefused: (error) => refused(error),
  });
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="first-letter-title">
      <Stack gap="sm" align="start">
        <Title order={2} size="h5" id="first-letter-title">
          Your first letter
        </Title>
        <Text size="sm">
          “{letter.subject || 'No subject yet'}” to {letter.external_user_id}, by {letter.rule}.{' '}
          <Leaves letter={letter} />
        </Text>
        <Group gap="xs">
          <Button
            size="sm"
            leftSection={<Send size={15} aria-hidden="true" />}
            disabled={!maySend}
            loading={test.isPending}
            onClick={() => test.mutate({ params: { draft: letter.draft_id }, body: {} })}
          >
            Send me this
          </Button>
          <Button
            size="sm"
            variant="default"
            leftSection={<MailOpen size={15} aria-hidden="true" />}
            renderRoot={(props) => (
              <Link to="/p/$project/drafts/$draft" params={{ project, draft: letter.draft_id }} {...props} />
            )}
          >
            Read it
          </Button>
          {outbox && test.isSuccess && (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="/p/$project/test-inbox" params={{ project }} {...props} />}
            >
              Open the outbox
            </Anchor>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

function Leaves({ letter }: { letter: Letter }): ReactNode {
  const { sends_at, reason, quiet_until, time_zone } = letter;
  if (sends_at === null) {
    if (reason === null) return <>It waits for a person: approve it in Review.</>;
    return <>It is held by {reasonWords(reason)}.</>;
  }
  return (
    <>
      It leaves <When at={sends_at} theirZone={time_zone} />
      {quiet_until !== null
        ? `: quiet hours until ${formatTime(quiet_until, time_zone)} (${time_zone}).`
        : reason !== null
          ? `, after ${reasonWords(reason)}.`
          : ', unless somebody approves it sooner.'}
    </>
  );
}
