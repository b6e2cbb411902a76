import { Alert, Stack } from '@mantine/core';
import { ShieldAlert } from 'lucide-react';
import type { SessionState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useSession } from '../../api/index.ts';
import { KeySettings, Lines, Loaded, Page } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { NameForm, PasswordForm } from './profile-forms.tsx';
import { Passkeys } from './profile-passkeys.tsx';
import { Digests } from './profile-digests.tsx';
import { Sessions } from './profile-sessions.tsx';
import { Tokens } from './profile-tokens.tsx';
import { TwoFactor } from './profile-two-factor.tsx';

/** The member's account: name, sign-in methods, sessions, digests, shortcuts. */
export function ProfileScreen(): ReactNode {
  const session = useSession();
  return (
    <Page title="Profile and security">
      <Loaded query={session} skeleton={<Lines count={12} />}>
        {({ data }) => (data.member === null ? null : <Sections state={data} person={data.member} />)}
      </Loaded>
    </Page>
  );
}

type Of = { state: SessionState; person: NonNullable<SessionState['member']> };

function Sections({ state, person }: Of): ReactNode {
  const organizations = state.organizations.filter((organization) => organization.must_set_up_two_factor);
  return (
    <Stack gap="md">
      {organizations.length > 0 && (
        <Alert
          color="yellow"
          variant="outline"
          icon={<ShieldAlert aria-hidden="true" />}
          title="Set up an authenticator app first"
        >
          {organizations.map(({ name }) => name).join(', ')} requires it. Its projects open after you set it
          up.
        </Alert>
      )}
      <Section
        title="Authenticator app"
        text="Adds a code from your phone when you sign in with your password."
      >
        <TwoFactor isOn={person.two_factor} email={person.email} />
      </Section>
      <Section
        title="Passkeys"
        text="Sign in with fingerprint, face or the PIN of this device, without password and code."
      >
        <Passkeys />
      </Section>
      <Section title="Name">
        <NameForm name={person.name} email={person.email} />
      </Section>
      <Section title="Password" text="A new password ends all your other sessions.">
        <PasswordForm email={person.email} />
      </Section>
      <Section
        title="Sessions"
        text="Devices where you are signed in. An ended session stops working immediately."
      >
        <Sessions />
      </Section>
      <Section title="Personal tokens" text="Programs that act for you, such as the command line.">
        <Tokens publicUrl={state.installation.public_url} />
      </Section>
      {state.organizations.length > 0 && (
        <Section title="Digests" text="Emails about drafts that wait for you, at most every 15 minutes.">
          <Digests organizations={state.organizations} />
        </Section>
      )}
      <Section title="Keyboard">
        <KeySettings />
      </Section>
    </Stack>
  );
}
