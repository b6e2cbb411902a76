import { Group, Stack, Text } from '@mantine/core';
import type { SessionState } from '@beckon/contract/dashboard';
import { type ReactNode, useEffect, useRef } from 'react';
import { useChange, useRefresh, useSession } from '../../api/index.ts';
import { Command, ErrorBox, Lines, Loaded, Page } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { firstCalls } from '../../parts/sample-calls.ts';
import { Section } from '../../parts/section.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ActButton } from '../../parts/act-button.tsx';

/** Shows the installation's settings, and the API call that creates the first draft. */
export function SetupDone({ projectId }: { projectId: number }): ReactNode {
  const session = useSession();
  const refresh = useRefresh();
  const params = { project: String(projectId) };
  useEffect(() => {
    void refresh('GET /session', 'GET /projects');
    // Once: earlier responses were loaded without a session.
  }, []);
  return (
    <Page
      title="You’re all set"
      actions={
        <LinkButton variant="filled" to="/p/$project/home" params={params}>
          Open dashboard
        </LinkButton>
      }
    >
      <Loaded query={session}>
        {({ data }) =>
          data.member === null ? (
            <Lines />
          ) : (
            <Stack gap="md">
              <FirstCall projectId={projectId} state={data} email={data.member.email} />
              <Transport projectId={projectId} state={data} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

type Of = { projectId: number; state: SessionState };

function FirstCall({ projectId, state, email }: Of & { email: string }): ReactNode {
  const key = useChange('POST /projects/:project/keys');
  const params = { project: String(projectId) };
  const make = (): void => key.mutate({ params: { project: projectId }, body: { label: 'First key' } });
  const isRequested = useRef(false);
  useEffect(() => {
    // Once, when the page opens.
    if (!isRequested.current) make();
    isRequested.current = true;
  }, []);
  const secret = key.data?.data.secret;
  return (
    <Section
      title="Send your first event"
      text="Paste this into a shell. It creates a user and a sign-up event. A welcome email is drafted and waits in Review."
    >
      {key.error && <ErrorBox error={key.error} retry={make} />}
      {secret === undefined ? (
        !key.error && <Lines count={6} />
      ) : (
        <>
          <Command
            what="first call"
            text={firstCalls({ url: state.installation.public_url, key: secret }, { email })}
          />
          <Text size="sm" mt="sm">
            The key in this command is shown only once. Store it for your server. Create more keys under API
            keys.
          </Text>
          <Group mt="sm">
            <LinkButton to="/p/$project/review" params={params}>
              Open Review
            </LinkButton>
          </Group>
        </>
      )}
    </Section>
  );
}

function Transport({ projectId, state: { installation } }: Of): ReactNode {
  const test = useChange('POST /projects/:project/test-email');
  const { public_url, test_inbox: isTestInbox, relay, mail_from } = installation;
  return (
    <Section title="Installation" text="Set by environment variables of the server.">
      <Facts
        cols={3}
        facts={[
          { label: 'Base URL (PUBLIC_URL)', value: public_url },
          {
            label: 'Relay (SMTP_URL)',
            value: isTestInbox ? 'not set: emails go to the test inbox' : relay,
          },
          {
            label: 'Sender of emails to members (MAIL_FROM)',
            value: mail_from ?? (isTestInbox ? 'test inbox' : 'not set'),
          },
        ]}
      />
      <Group mt="md" gap="sm">
        <ActButton change={test} onClick={() => test.mutate({ params: { project: projectId } })}>
          Send me a test email
        </ActButton>
        {test.data && (
          <Text size="sm" role="status">
            {test.data.data.test_inbox ? 'Captured in the test inbox: ' : `Sent to ${test.data.data.to}.`}
            {test.data.data.test_inbox && (
              <TextLink inherit to="/p/$project/test-inbox" params={{ project: String(projectId) }}>
                open test inbox
              </TextLink>
            )}
          </Text>
        )}
      </Group>
      {test.error && <ErrorBox error={test.error} />}
    </Section>
  );
}
