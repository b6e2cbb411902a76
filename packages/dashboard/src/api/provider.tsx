import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ProjectListed } from '@beckon/contract/dashboard';
import { createContext, type ReactNode, use, useState } from 'react';
import { ApiError } from './failure.ts';
import { createSignIn, type SignIn } from './sign-in.ts';

const SignInContext = createContext<SignIn | null>(null);
const ProjectContext = createContext<ProjectListed | null>(null);

export function ApiProvider({ children }: { children: ReactNode }): ReactNode {
  const [client] = useState(createClient);
  const [signIn] = useState(() => createSignIn(() => void readRoles(client)));
  return (
    <SignInContext value={signIn}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </SignInContext>
  );
}

export function ProjectProvider({
  project,
  children,
}: {
  project: ProjectListed;
  children: ReactNode;
}): ReactNode {
  return <ProjectContext value={project}>{children}</ProjectContext>;
}

export function useSignIn(): SignIn {
  const signIn = use(SignInContext);
  if (!signIn) throw new Error('outside of ApiProvider');
  return signIn;
}

/** The project of this page, or null on pages outside of projects. */
export function useProjectIfAny(): ProjectListed | null {
  return use(ProjectContext);
}

/** The offered actions follow the member's role in the project. */
function readRoles(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'GET /projects' });
}

function createClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // Retry only temporary failures.
        retry: (count, error) => count < 2 && error instanceof ApiError && error.isInDoubt,
        retryDelay: (count) => 500 * 2 ** count,
      },
      mutations: { retry: false },
    },
  });
}
