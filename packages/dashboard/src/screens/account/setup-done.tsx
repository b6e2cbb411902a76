import { Group, Stack, Text } from '@mantine/core';
import type { SessionState } from '@beckon/contract/dashboard';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  FeedProvider,
  ProjectProvider,
  useApi,
  useChange,
  useProject,
  useRefresh,
  useSession,
} from '../../api/index.ts';
import { ErrorBox, Lines, Loaded, Page, ZoneProvider } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Section } from '../../parts/section.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { FirstMinute } from './first-minute.tsx';
import { KeepKey } from './keep-key.tsx';

/** From the first API key to the first email, on one page, and the installation's settings. */
export function SetupDone({ projectId }: { projectId: number }): ReactNode {
  const session = useSession();
  const projects = useApi('GET /projects', {});
  const refresh = useRefresh();
  const params = { project: String(projectId) };
  useEffect(() => {
    void refresh('GET /session', 'GET /projects');
    // Once: earlier responses were loaded without a session.
  }, []);
  const project = projects.data?.data.find(({ id }) => id === projectId);
  return (
    <Page
      title="You’re all set"
      actions={
        <LinkButton to="/p/$project/home" params={params}>
          Open dashboard
        </LinkButton>
      }
    >
      <Loaded query={session}>
        {({ data }) =>
          data.member === null || !project ? (
            <Lines />
          ) : (
            <ProjectProvider project={project}>
              <ZoneProvider zone={project.time_zone}>
                <FeedProvider>
                  <Stack gap="md">
                    <FirstSteps state={data} />
                    <Installation state={data} />
                  </Stack>
                </FeedProvider>
              </ZoneProvider>
            </ProjectProvider>
          )
        }
      </Loaded>
    </Page>
  );
}

function FirstSteps({ state }: { state: SessionState }): ReactNode {
  const key = useChange('POST /projects/:project/keys');
  const [isStored, setIsStored] = useState(false);
  const make = (): void => key.mutate({ body: { label: 'First key' } });
  const isRequested = useRef(false);
  useEffect(() => {
    // Once, when the page opens.
    if (!isRequested.current) make();
    isRequested.current = true;
  }, []);
  const secret = key.data?.data.secret;
  if (key.error) return <ErrorBox error={key.error} retry={make} />;
  if (secret === undefined) return <Lines count={6} />;
  return (
    <>
      <FirstMinute apiKey={secret} isTestInbox={state.installation.test_inbox} />
      <KeepKey secret={secret} isStored={isStored} onStored={setIsStored} />
    </>
  );
}

function Installation({ state: { installation } }: { state: SessionState }): ReactNode {
  const test = useChange('POST /projects/:project/test-email');
  const project = String(useProject().id);
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
        <ActButton change={test} onClick={() => test.mutate({})}>
          Send me a test email
        </ActButton>
        {test.data && (
          <Text size="sm" role="status">
            {test.data.data.test_inbox ? 'Captured in the test inbox: ' : `Sent to ${test.data.data.to}.`}
            {test.data.data.test_inbox && (
              <TextLink inherit to="/p/$project/test-inbox" params={{ project }}>
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
