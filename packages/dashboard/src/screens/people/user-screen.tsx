import { Button, Group, Menu, Tabs, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Ban, CheckCircle2, Ellipsis, PauseCircle } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { UserDetails } from '@beckon/contract/dashboard';
import { apiUrl, useApi, useFeed, useMay, useProject, useRefresh } from '../../api/index.ts';
import { later, Loaded, Mark, Page, useKeys, When, WhenOpened } from '../../parts/index.ts';
import { NextEmail } from './next-email.tsx';
import { Timeline } from './timeline.tsx';
import { UserFacts } from './user-facts.tsx';
import { nameOf, UserHead } from './user-head.tsx';
import { reachOf } from './words.ts';
import classes from './user.module.css';

const Why = later(() => import('./why.tsx'), 'Why');
const Then = later(() => import('./then.tsx'), 'Then');

const EraseDialog = later(() => import('./erase-dialog.tsx'), 'EraseDialog', null);
const SuppressDialog = later(() => import('./suppress-dialog.tsx'), 'SuppressDialog', null);

const route = getRouteApi('/p/$project/users/$user');
/** The routes to refetch when something happens to the user. */
const OF_USER = [
  'GET /projects/:project/users/:user',
  'GET /projects/:project/users/:user/timeline',
  'GET /projects/:project/users/:user/why',
  'GET /projects/:project/users/:user/next-email',
] as const;
const TABS = ['timeline', 'why', 'then'] as const;

export function UserScreen(): ReactNode {
  const { user } = route.useParams();
  const { tab, at } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('GET /projects/:project/users/:user', { params: { user } });
  const refresh = useRefresh();
  useFeed(
    (item) => item.external_user_id === user,
    () => void refresh(...OF_USER),
  );
  useLeaveKey();
  const currentTab = TABS.find((name) => name === tab) ?? 'timeline';
  const show = (next: string | null): void =>
    void navigate({ search: (was) => ({ ...was, tab: next ?? undefined }), replace: true });
  return (
    <Page
      title={query.data ? nameOf(query.data.data) : user}
      beside={query.data && <States user={query.data.data} />}
      actions={<Actions user={user} />}
    >
      <Loaded query={query}>
        {({ data }) => (
          <div className={classes.columns}>
            <div className={classes.left}>
              <UserHead user={data} />
              <Tabs value={currentTab} onChange={show} keepMounted={false} className={classes.main}>
                <Tabs.List mb="md">
                  <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
                  <Tabs.Tab value="why">Explain</Tabs.Tab>
                  <Tabs.Tab value="then">History</Tabs.Tab>
                </Tabs.List>
                <Tabs.Panel value="timeline">
                  <Timeline user={data} />
                </Tabs.Panel>
                <Tabs.Panel value="why">
                  <Why user={data} />
                </Tabs.Panel>
                <Tabs.Panel value="then">
                  <Then
                    user={data}
                    at={at}
                    onAt={(next) => void navigate({ search: (was) => ({ ...was, at: next }), replace: true })}
                  />
                </Tabs.Panel>
              </Tabs>
            </div>
            <div className={classes.right}>
              <NextEmail user={data} />
              <UserFacts user={data} />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const FIELDS = 'input, textarea, select, [contenteditable]';

/** Escape leads to the list of users. In a text field it does not leave the page. */
function useLeaveKey(): void {
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  useKeys('User', {
    Escape: {
      label: 'All users',
      run({ target }) {
        if (target instanceof Element && target.closest(FIELDS)) return;
        void navigate({ to: '/p/$project/users', params: { project } });
      },
    },
  });
}

function States({ user }: { user: UserDetails }): ReactNode {
  const { suppression, triggers } = user;
  const { can, words, note } = reachOf(user);
  return (
    <Group gap="xs">
      <Mark icon={can ? CheckCircle2 : Ban} tone={can ? 'good' : 'bad'} label={words} />
      {suppression?.until && (
        <span>
          until <When at={suppression.until} />
        </span>
      )}
      {note !== null && (
        <Text span size="sm" c="dimmed">
          {note}
        </Text>
      )}
      {triggers.suppressed && (
        <Mark
          icon={PauseCircle}
          tone="warn"
          label="Triggers suppressed"
          title="The last data of this user was sent with suppressTriggers. Rules start again after data without it."
        />
      )}
    </Group>
  );
}

function Actions({ user }: { user: string }): ReactNode {
  const project = useProject();
  const mayManage = useMay('admin');
  const [dialog, setDialog] = useState<'erase' | 'suppress' | null>(null);
  const close = (): void => setDialog(null);
  if (!mayManage) return null;
  const url = apiUrl('GET /projects/:project/users/:user/export', { params: { project: project.id, user } });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Ellipsis size={14} aria-hidden="true" />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={url} download>
            Export all data
          </Menu.Item>
          <Menu.Item onClick={() => setDialog('suppress')}>Suppress…</Menu.Item>
          <Menu.Divider />
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setDialog('erase')}>
            Erase…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <WhenOpened opened={dialog === 'suppress'}>
        <SuppressDialog opened={dialog === 'suppress'} users={[user]} onClose={close} onDone={close} />
      </WhenOpened>
      <WhenOpened opened={dialog === 'erase'}>
        <EraseDialog opened={dialog === 'erase'} user={user} onClose={close} />
      </WhenOpened>
    </>
  );
}
