import type { Relay, RelaySetup } from '@beckon/contract/dashboard';
import { Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Info, Send } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useMay } from '../../api/index.ts';
import { type Column, DataTable, Empty, listOf, Loaded, Page, When } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { RelayMark, usesOf } from './marks.tsx';

const route = getRouteApi('/p/$project/settings/relays');

export function RelaysScreen(): ReactNode {
  const { project } = route.useParams();
  const setup = useApi('GET /projects/:project/relay-setup', {}).data?.data;
  const may = useMay('admin') && setup?.inside === false;
  const add = may ? (
    <LinkButton variant="filled" to="/p/$project/settings/relays/$relay" params={{ project, relay: 'new' }}>
      Add relay
    </LinkButton>
  ) : undefined;
  return (
    <Page title="Relays" actions={add}>
      <Stack gap="md">
        {setup && <DefaultRelay setup={setup} />}
        <Relays project={project} add={add} />
      </Stack>
    </Page>
  );
}

/** Says what sends the emails of a project without a relay of its own. */
function DefaultRelay({ setup }: { setup: RelaySetup }): ReactNode {
  const { inside, smtp_url: smtpUrl, kinds, operator } = setup;
  const { project } = route.useParams();
  if (inside)
    return (
      <Notice icon={Info} title="Emails of this project stay in the test inbox">
        A demo or sandbox project has no relay.
      </Notice>
    );
  if (smtpUrl === null)
    return (
      <Notice icon={Info} title="Without a relay, emails go to the test inbox">
        Add a relay and use it for this project. SMTP_URL is not set on the server.
      </Notice>
    );
  const provider = kinds.find(({ kind }) => kind === smtpUrl.kind)?.title;
  return (
    <Notice icon={Info} title={`Without a relay, emails are sent through ${smtpUrl.host}`}>
      This is the relay of SMTP_URL on the server
      {provider === undefined ? '. ' : `, which belongs to ${provider}. `}
      {canAddFeedback(setup) && (
        <>
          Bounces and complaints may be missed until you add the feedback of {provider}, which does not change
          how emails are sent.{' '}
          {operator ? (
            <TextLink size="sm" to="/p/$project/settings/relays/$relay" params={{ project, relay: 'new' }}>
              Add feedback of {provider}
            </TextLink>
          ) : (
            'An owner of the installation can add it.'
          )}
        </>
      )}
    </Notice>
  );
}

function canAddFeedback({ smtp_url: smtpUrl, kinds }: RelaySetup): boolean {
  return smtpUrl?.feedback_relay === null && kinds.some(({ kind }) => kind === 'smtp_url');
}

function Relays({ project, add }: { project: string; add: ReactNode }): ReactNode {
  const query = useApi('GET /projects/:project/relays', {}, { everyMs: 30_000 });
  return (
    <Loaded query={query}>
      {({ data }) => (
        <DataTable
          label="Relays"
          columns={COLUMNS}
          list={listOf(data)}
          rowKey={({ id }) => id}
          link={({ id: relay }) => ({
            to: '/p/$project/settings/relays/$relay',
            params: { project, relay },
          })}
          empty={
            <Empty icon={Send} title="No relays yet" action={add}>
              A relay delivers your emails: Postmark, Amazon SES, or any SMTP server. Add one to send from
              this project or from one of its domains.
            </Empty>
          }
        />
      )}
    </Loaded>
  );
}

const COLUMNS: Column<Relay>[] = [
  {
    id: 'name',
    title: 'Relay',
    width: '1.5fr',
    cell: ({ name }) => (
      <Text size="sm" fw={500} truncate>
        {name}
      </Text>
    ),
  },
  {
    id: 'kind',
    title: 'Provider',
    width: '1fr',
    cell: ({ title, owner }) => (owner === 'installation' ? `${title}, shared` : title),
  },
  { id: 'state', title: 'State', width: '140px', cell: (relay) => <RelayMark relay={relay} /> },
  { id: 'uses', title: 'Used by', width: '1.5fr', cell: usesOf },
  {
    id: 'tested',
    title: 'Last test',
    width: '130px',
    narrow: 'hide',
    cell: ({ checked_at: at }) => <When at={at} style="relative" none="never" />,
  },
];
