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

/** One's own account: name, ways in, sessions, digests, keys. */
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
  const asking = state.organizations.filter((one) => one.must_set_up_two_factor);
  return (
    <Stack gap="md">
      {asking.length > 0 && (
        <Alert
          color="yellow"
          variant="outline"
          icon={<ShieldAlert aria-hidden="true" />}
          title="Set up an authenticator app first"
        >
          {asking.map(({ name }) => name).join(', ')} asks for it. Its projects open as soon as it is there.
        </Alert>
      )}
      <Section title="Authenticator app" text="A code from your phone, asked for after the password.">
        <TwoFactor isOn={person.two_factor} email={person.email} />
      </Section>
      <Section
        title="Passkeys"
        text="Sign in with a finger, your face or the PIN of this device, without password and code."
      >
        <Passkeys />
      </Section>
      <Section title="Name">
        <NameForm name={person.name} email={person.email} />
      </Section>
      <Section title="Password" text="A new one ends all your other sessions.">
        <PasswordForm email={person.email} />
      </Section>
      <Section title="Sessions" text="Where you are signed in. One that is ended is refused at once.">
        <Sessions />
      </Section>
      <Section title="Personal tokens" text="Programs of yours that act for you, such as the command line.">
        <Tokens publicUrl={state.installation.public_url} />
      </Section>
      {state.organizations.length > 0 && (
        <Section title="Digests" text="Letters that say what waits for you, at most every 15 minutes.">
          <Digests organizations={state.organizations} />
        </Section>
      )}
      <Section title="Keyboard">
        <KeySettings />
      </Section>
    </Stack>
  );
}
