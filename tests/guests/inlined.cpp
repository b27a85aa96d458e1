/* SPDX-License-Identifier: MIT
 *
 * Frames in C++: all functions of the library, and those of the program, are inlined into main at -O2.
 * What each line allocates is known: what draw() and name() take dies with the frame, `world` lives as
 * long as the program, though it is the same code of the library that allocates it. */
#include <cstdio>
#include <string>
#include <vector>

namespace
{
struct command {
    float matrix[12];
    int texture;
    unsigned key;
};

inline size_t draw(std::vector<command> &commands)
{
    for (int i = 0; i < 100; i++) {
        command c{};
        c.texture = i;
        commands.push_back(c); // draw
    }
    return commands.size();
}

inline size_t name(std::vector<std::string> &labels)
{
    for (int i = 0; i < 20; i++)
        labels.push_back("a label of the frame, number " + std::to_string(i)); // name
    return labels.size();
}

inline void build(std::vector<std::vector<int>> &world)
{
    world.emplace_back(); // world
    for (int i = 0; i < 10; i++)
        world.back().push_back(i); // world
}
} // namespace

int main()
{
    std::vector<std::vector<int>> world;
    size_t sum = 0;
    for (int frame = 0; frame < 2000; frame++) {
        std::vector<command> commands;
        sum += draw(commands);
        std::vector<std::string> labels;
        sum += name(labels);
        if (frame % 50 == 0)
            build(world);
    }
    std::printf("%zu %zu\n", sum, world.size());
}
