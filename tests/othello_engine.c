/* An Othello engine with rules of its own, which speaks NBoard. It plays the move that flips most
 * discs, the first of equal ones, with rows from the top. An illegal move ends it, so that a wrong
 * square, side or pass is found. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char board[10][10]; /* with a border; '*', 'O' or '-' */
static char mover;

static char other(char disc) { return disc == '*' ? 'O' : '*'; }

static int flips(int y, int x, int play) {
    int total = 0;
    if (board[y][x] != '-') return 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int n = 0, v = y + dy, u = x + dx;
            if (!dy && !dx) continue;
            while (board[v][u] == other(mover)) v += dy, u += dx, n++;
            if (!n || board[v][u] != mover) continue;
            total += n;
            for (int i = 1; play && i <= n; i++) board[y + dy * i][x + dx * i] = mover;
        }
    if (play && total) board[y][x] = mover;
    return total;
}

static int best(char *name) {
    int most = 0;
    for (int y = 1; y <= 8; y++)
        for (int x = 1; x <= 8; x++)
            if (flips(y, x, 0) > most) {
                most = flips(y, x, 0);
                name[0] = 'a' + x - 1, name[1] = '0' + y, name[2] = 0;
            }
    return most;
}

static void play(const char *move) {
    char name[8];
    int x = tolower(move[0]) - 'a' + 1, y = move[1] - '0';
    int pass = !strncmp(move, "PA", 2) || !strncmp(move, "pass", 4);
    if (pass ? best(name) : x < 1 || x > 8 || y < 1 || y > 8 || !flips(y, x, 1)) {
        fprintf(stderr, "%.4s is not legal\n", move);
        exit(3);
    }
    mover = other(mover);
}

static void set(const char *squares) {
    memset(board, ' ', sizeof board);
    for (int i = 0; i < 64; i++) board[1 + i / 8][1 + i % 8] = squares[i];
}

int main(void) {
    static char line[100000];
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        char name[8] = "", *at;
        line[strcspn(line, "\r\n")] = 0;
        if (!strncmp(line, "ping ", 5)) printf("pong %s\n", line + 5);
        else if (!strncmp(line, "set game ", 9)) {
            at = strstr(line, "BO[8 ") + 5;
            set(at), mover = at[65], at += 66;
            while ((at = strstr(at, "["))) {
                if ((at[-1] == 'B') != (mover == '*')) exit(4);
                play(++at);
            }
        } else if (!strncmp(line, "move ", 5)) play(line + 5);
        else if (!strcmp(line, "go")) {
            if (!best(name)) strcpy(name, "PA");
            printf("status thinking\n=== %c%c/1.00/0.1\n", toupper(name[0]), toupper(name[1]));
        } else if (!strcmp(line, "quit")) break;
    }
    return 0;
}
