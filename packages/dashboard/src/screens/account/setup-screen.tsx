import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useSession } from '../../api/index.ts';
import { Empty, type EmptyProps, Loaded, Page } from '../../parts/index.ts';
import { LinkPage } from './link-page.tsx';
import { SetupDone } from './setup-done.tsx';
import { SetupForm } from './setup-form.tsx';

const route = getRouteApi('/outside/setup');

/** The first run: creates the owner and the first project. */
export function SetupScreen(): ReactNode {
  const { token = '' } = route.useSearch();
  const session = useSession();
  const [projectId, setProjectId] = useState<number | null>(null);
  if (projectId !== null) return <SetupDone projectId={projectId} />;
  return (
    <Loaded query={session}>
      {({ data }) => {
        if (data.set_up) return <AlreadySetUp />;
        return token === '' ? <NoLink /> : <WithLink token={token} onDone={setProjectId} />;
      }}
    </Loaded>
  );
}

function WithLink({ token, onDone }: { token: string; onDone: (projectId: number) => void }): ReactNode {
  return (
    <LinkPage
      title="Set up Beckon"
      text="You become the owner of this installation."
      token={token}
      gone="The server prints a new one when it starts, and so does beckon-server reset-access."
    >
      {() => <SetupForm token={token} onDone={onDone} />}
    </LinkPage>
  );
}

function NoLink(): ReactNode {
  return (
    <NoSetup title="Open the set-up link" command="beckon-server reset-access">
      The server printed the link when it started. It works once, within 24 hours. This command prints a new
      one.
    </NoSetup>
  );
}

function AlreadySetUp(): ReactNode {
  return (
    <NoSetup title="This installation is set up" command="beckon-server reset-access you@example.com --owner">
      Sign in, or ask an owner for an invitation. If no owner can sign in, this command creates a new owner.
    </NoSetup>
  );
}

function NoSetup(props: EmptyProps): ReactNode {
  return (
    <Page title="Set up Beckon">
      <Empty {...props} />
    </Page>
  );
}
