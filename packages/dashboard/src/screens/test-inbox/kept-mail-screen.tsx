import { Badge, Skeleton, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { MailCheck, TestInboxEmailWhole } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useMay, useProject } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Empty, Loaded, Page, Person, When } from '../../parts/index.ts';
import { EmailPane, EmailWaiting } from '../../parts/email-pane.tsx';
import { NameValues, TextBlock } from '../../parts/text-block.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Checks } from './checks.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';

const route = getRouteApi('/p/$project/test-inbox/$message');

export function KeptMailScreen(): ReactNode {
  const { message } = route.useParams();
  const { copy } = route.useSearch();
  const mail = useApi('GET /projects/:project/test-inbox/:email', {
    params: { email: message },
    query: { copy },
  });
  const details = mail.data?.data;
  return (
    <Page
      title={details?.subject || 'Email in the test inbox'}
      actions={details && <Actions mail={details} />}
    >
      <Loaded query={mail} skeleton={<EmailWaiting />}>
        {({ data }) => <Whole mail={data} />}
      </Loaded>
    </Page>
  );
}

function Actions({ mail }: { mail: TestInboxEmailWhole }): ReactNode {
  const project = useProject();
  const href = apiUrl('GET /projects/:project/test-inbox/:email/eml', {
    params: { project: project.id, email: mail.id },
    query: { copy: mail.copy },
  });
  const { draft_id: draft } = mail;
  const mayHaveBytes = useMayHaveBytes(mail);
  return (
    <>
      {draft !== null && (
        <LinkButton to="/p/$project/drafts/$draft" params={{ draft }}>
          Open draft
        </LinkButton>
      )}
      {mayHaveBytes && <DownloadButton href={href}>.eml</DownloadButton>}
    </>
  );
}

/** The links of an email belong to its recipient, and those in emails to the team lead to an account. */
function useMayHaveBytes({ draft_id: draft }: TestInboxEmailWhole): boolean {
  return useMay('editor') && draft !== null;
}

function Whole({ mail }: { mail: TestInboxEmailWhole }): ReactNode {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const { external_user_id: user } = mail;
  const mayHaveBytes = useMayHaveBytes(mail);
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          { label: 'From', value: mail.from },
          { label: 'To', value: mail.to },
          { label: 'User', value: user === null ? 'Team' : <Person id={user} /> },
          { label: 'Received', value: <When at={mail.at} style="long" /> },
        ]}
      />
      <TabPages
        value={tab}
        onChange={(next) => void navigate({ search: (was) => ({ ...was, tab: next }), replace: true })}
        pages={[
          { value: 'email', label: 'Email', content: <Email mail={mail} /> },
          {
            value: 'text',
            label: 'Text',
            content: <TextBlock text={mail.text} label="Plain text of the email" />,
          },
          {
            value: 'html',
            label: 'HTML',
            content: <TextBlock text={mail.html_source} label="HTML of the email" />,
          },
          {
            value: 'headers',
            label: 'Headers',
            content: <NameValues rows={mail.headers} label="Headers of the email" />,
          },
          ...(mayHaveBytes ? [{ value: 'source', label: 'Source', content: <Source mail={mail} /> }] : []),
          {
            value: 'checks',
            label: 'Checks',
            mark: <Found checks={mail.checks} />,
            content: <Checks checks={mail.checks} />,
          },
        ]}
      />
    </Stack>
  );
}

function Found({ checks }: { checks: MailCheck[] }): ReactNode {
  const count = checks.filter(({ status }) => status !== 'ok').length;
  if (count === 0) return null;
  const isBad = checks.some(({ status }) => status === 'error');
  return (
    <Badge
      size="sm"
      color={isBad ? 'red.9' : 'orange.9'}
      aria-label={`${count} ${count === 1 ? 'problem' : 'problems'}`}
    >
      {count}
    </Badge>
  );
}

function Email({ mail }: { mail: TestInboxEmailWhole }): ReactNode {
  const project = useProject();
  if (!mail.has_html) return <Empty title="This email has no HTML">See its plain text under Text.</Empty>;
  const params = { project: project.id, email: mail.id };
  return (
    <EmailPane
      srcOf={(query) =>
        apiUrl('GET /projects/:project/test-inbox/:email/email.html', {
          params,
          query: { ...query, copy: mail.copy },
        })
      }
      title={`Email to ${mail.to}`}
      remoteImages={mail.remote_images}
    />
  );
}

function Source({ mail }: { mail: TestInboxEmailWhole }): ReactNode {
  const { id, copy } = mail;
  const source = useApi('GET /projects/:project/test-inbox/:email/source', {
    params: { email: id },
    query: { copy },
  });
  return (
    <Loaded query={source} skeleton={<Skeleton height={420} />}>
      {({ data }) => (
        <TextBlock
          text={data.truncated ? `${data.source}\n\n… (download the .eml for the rest)` : data.source}
          label="Source of the email"
        />
      )}
    </Loaded>
  );
}
